import type { CompiledSegment } from '../../rules/segments/compile/compile-segments.ts'
import type { SegmentFacts } from '../../rules/segments/membership/facts.ts'
import { nextWindowedChange } from '../../rules/segments/windows/next-windowed-change.ts'
import { walkWindows } from '../../rules/segments/windows/walk-windows.ts'
import type { Window } from '../../rules/segments/windows/windows-of.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { readWindows, uniteReadings } from './read-windows.ts'

interface Question {
  businessId: string
  contactId: string
  segment: CompiledSegment
  facts: SegmentFacts
  windows: readonly Window[]
  now: number
}

const PATIENCE_MS = 3000
/** An event that leaves its window later than this never leaves it. */
const FOREVER = Number.MAX_SAFE_INTEGER - 1

/**
 * Returns the instant at which time alone changes the answer of a rule that reads windows (epoch milliseconds). Null:
 * never, or ClickHouse does not answer.
 */
export async function findNextChange(
  { sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient },
  { businessId, contactId, segment, facts, windows, now }: Question,
): Promise<number | null> {
  const merged = await sql<{ id: string }[]>`
    select id from contacts where business_id = ${businessId} and merged_into = ${contactId}`
  const contactIds = [contactId, ...merged.map(({ id }) => id)]
  const period = { from: now + 1, until: FOREVER }
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const readings = await readWindows(clickhouse, { businessId, windows, contactIds, ...period }, signal)
    const { steps } = walkWindows(windows, uniteReadings(readings, contactIds), period)
    return nextWindowedChange(segment, facts, steps, now)
  } catch {
    return null
  }
}
