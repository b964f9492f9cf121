import type { SegmentFacts } from '../../rules/segments/membership/facts.ts'
import type { Step } from '../../rules/campaigns/steps.ts'
import { valuesIn } from '../../rules/campaigns/walk-steps.ts'
import { readFacts } from '../../segments/read-facts.ts'
import { type ShippingPatience, waitUntilShipped } from '../../segments/wait-until-shipped.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { isInvalidQuery } from '../../timeline/reading/query-with-retry.ts'
import { askTimeline, readAnswered, windowsOfRules } from '../branch-answers.ts'
import type { RuleContext } from '../branch-rules.ts'

export interface FactDeps {
  sql: Sql
  clickhouse: ClickHouseClient
}

const PATIENCE: ShippingPatience = { ms: 3000, whileMovingMs: 10_000 }
const READ_MS = 10_000

/**
 * Reads the facts that the branches of these steps need of a contact, with everything that was answered before the
 * call. Null when there is no such contact, and `unavailable` when the timeline does not answer in time.
 */
export async function readBranchFacts(
  { sql, clickhouse }: FactDeps,
  { businessId, contactId }: { businessId: string; contactId: string },
  steps: readonly Step[],
  { definitions, now }: RuleContext,
): Promise<SegmentFacts | null | 'unavailable'> {
  const windows = windowsOfRules(valuesIn(steps, 'rule'), definitions)
  if (windows.length > 0 && !(await waitUntilShipped(sql, businessId, PATIENCE))) return 'unavailable'
  const found = await readFacts(sql, businessId, contactId)
  if (found === null || windows.length === 0) return found?.facts ?? null
  try {
    const asked = { businessId, windows, contactIds: [found.contactId], now }
    const answers = await askTimeline({ sql, clickhouse }, asked, AbortSignal.timeout(READ_MS))
    const values = readAnswered(windows, answers.get(found.contactId) ?? {})
    return { ...found.facts, windows: values ?? new Map() }
  } catch (error) {
    if (isInvalidQuery(error)) throw error
    return 'unavailable'
  }
}
