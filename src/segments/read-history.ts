import { type HistoryDeps, type SegmentId, queryChanges } from './read-change-rows.ts'

export interface SegmentDay {
  /** Day in UTC, such as 2026-03-01. */
  day: string
  entered: number
  left: number
  /** Members at the end of the day. */
  members: number
}

const DAY_MS = 86_400_000

interface DayRow {
  /** Days since 1970-01-01. */
  day: number
  entries: number
  exits: number
}

/** Returns every day from the day of `from` to the day of `to` (epoch milliseconds), both included, oldest first. */
export async function readHistory(
  deps: HistoryDeps,
  { from, to, ...segment }: SegmentId & { from: number; to: number },
): Promise<SegmentDay[] | 'unavailable'> {
  const [first, last] = [Math.floor(from / DAY_MS), Math.floor(to / DAY_MS)]
  // All days before the first one count as the day before it. Their changes make the members with which the range
  // begins.
  const rows = await queryChanges<DayRow>(deps, segment, {
    query: `
      select greatest(intDiv(at_ms, ${DAY_MS}), {first: Int64} - 1) as day, countIf(entered = 1) as entries,
        countIf(entered = 0) as exits
      from (
        select at_ms, entered from shipped where change_id not in (select change_id from unshipped)
        union all
        select at_ms, entered from unshipped
      )
      where at_ms < {end: Int64}
      group by day order by day`,
    params: { first, end: (last + 1) * DAY_MS },
  })
  return rows === undefined ? 'unavailable' : fillDays(rows, first, last)
}

function fillDays(rows: DayRow[], first: number, last: number): SegmentDay[] {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  const before = byDay.get(first - 1)
  let members = before === undefined ? 0 : before.entries - before.exits
  return Array.from({ length: last - first + 1 }, (_, place) => {
    const { entries: entered = 0, exits: left = 0 } = byDay.get(first + place) ?? {}
    members += entered - left
    return { day: new Date((first + place) * DAY_MS).toISOString().slice(0, 10), entered, left, members }
  })
}
