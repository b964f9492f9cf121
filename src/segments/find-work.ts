import type { Sql } from '../stores/postgres.ts'

/** Work for the segment worker. */
export interface SegmentWork {
  /** Next instant at which time changes a contact's membership, in epoch milliseconds. Null: never. */
  nextDue: number | null
  /** Next instant at which time changes a count or a sum, in epoch milliseconds. Null: never. */
  nextWindowDue: number | null
  /** True when counts or sums of a contact have to be read again. */
  hasRefreshes: boolean
  hasSwitched: boolean
  hasBuilds: boolean
  hasRetired: boolean
}

/** One statement with a few index probes. An idle worker makes no other query. */
export async function findWork(sql: Sql): Promise<SegmentWork> {
  const [work] = await sql<[SegmentWork]>`
    select
      (select due_at from segment_clock where due_at is not null order by due_at limit 1) as "nextDue",
      (select next_at from segment_windows where next_at is not null order by next_at limit 1) as "nextWindowDue",
      exists (select from segment_window_refreshes) as "hasRefreshes",
      exists (select from segment_rules where switched_at is not null) as "hasSwitched",
      exists (select from segment_builds) as "hasBuilds",
      exists (select from segment_rules where state = 'retired') as "hasRetired"`
  return work
}

/** True when some of the work may need the timeline. */
export const hasWindowWork = ({ nextWindowDue, hasRefreshes, hasBuilds, hasRetired }: SegmentWork): boolean =>
  nextWindowDue !== null || hasRefreshes || hasBuilds || hasRetired
