import { type CompiledSegment, compileSegments } from '../rules/segments/compile/compile-segments.ts'
import { type ExplainedRule, explainRule } from '../rules/segments/explain-rule.ts'
import { windowsOf } from '../rules/segments/windows/windows-of.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import { orderWords } from './order-words.ts'
import { readFacts } from './read-facts.ts'
import { type RuleInForce, readRuleInForce } from './read-rule-in-force.ts'
import { findNextChange } from './windows/find-next-change.ts'
import { readAnswers } from './windows/read-answers.ts'

export interface Explanation {
  /** Membership by the present facts. */
  member: boolean
  /** Entry as it is stored, in ISO 8601 UTC. */
  enteredAt: string | null
  /** Instant at which time alone changes `member` next, in ISO 8601 UTC. */
  changesAt: string | null
  rule: ExplainedRule
}

/**
 * Explains the rule in force or, while there is none, the rule that is being built. `segmentId` and `contactId` are
 * UUIDs.
 */
export async function explainSegment(
  { sql, clickhouse, now }: { sql: Sql; clickhouse: ClickHouseClient; now: () => number },
  { businessId, segmentId, contactId }: { businessId: string; segmentId: string; contactId: string },
): Promise<Explanation | 'segment_not_found' | 'contact_not_found'> {
  const inForce = await readRuleInForce(sql, businessId, segmentId)
  if (inForce === null) return 'segment_not_found'
  const { rule, fields } = inForce
  const found = await readFacts(sql, businessId, contactId)
  if (found === null) return 'contact_not_found'
  const at = now()
  const segment = compileOne(inForce)
  const windows = [...windowsOf([{ rule, isBuilding: false }]).values()]
  const asked = { businessId, contactId: found.contactId, now: at }
  const answers = await readAnswers(sql, { ...asked, keys: windows.map(({ key }) => key) })
  const facts = { ...found.facts, windows: answers.values }
  const changesAt =
    windows.length === 0
      ? segment.nextChange(facts, at)
      : await findNextChange({ sql, clickhouse }, { ...asked, segment, facts, windows })
  return {
    member: segment.test(facts, at),
    enteredAt: isoOrNull(await readEntry(sql, businessId, segmentId, found.contactId)),
    changesAt: isoOrNull(changesAt),
    rule: orderWords(explainRule(rule, facts, fields, at, answers.isStale)),
  }
}

function compileOne({ rule, fields }: RuleInForce): CompiledSegment {
  const [compiled] = compileSegments([{ no: 0, segmentId: '', isBuilding: false, rule }], fields).all
  if (compiled === undefined) throw new Error('a rule was not compiled')
  return compiled
}

async function readEntry(sql: Sql, businessId: string, segmentId: string, contactId: string): Promise<number | null> {
  const [entry] = await sql<{ since: number }[]>`
    select since from list_memberships(${businessId}, ${contactId}) where segment_id = ${segmentId}`
  return entry?.since ?? null
}

/** An instant beyond the range of dates counts as never. */
function isoOrNull(at: number | null): string | null {
  return at === null || Math.abs(at) > MAX_DATE_MS ? null : new Date(at).toISOString()
}
const MAX_DATE_MS = 8.64e15
