/** What became of the messages of a sender, by day. */
import { createDayOf } from '../../rules/local-days.ts'
import type { Sql } from '../../stores/postgres.ts'
import { DEFAULT_SENDER, type SenderKey } from './channels.ts'

const REPORTED = ['sent', 'delivered', 'bounced', 'complained', 'failed', 'unknown'] as const

/** A message counts in its latest state, on the day of its first claim. */
export type DayCounts = Record<(typeof REPORTED)[number], number> & {
  /** Those that were tried more than once. */
  retried: number
}

/** In the zone of the business, such as `2026-11-24`. */
export type SenderDay = { day: string } & DayCounts

export const MAX_REPORT_DAYS = 366
const DAY_MS = 86_400_000
/** All offsets of zones are multiples of it. */
const QUARTER_MS = 900_000

/** Days with messages, oldest first. `from` and `to`: epoch milliseconds, both included. */
export async function reportSender(
  sql: Sql,
  { businessId, channel, sender, timezone }: SenderKey & { timezone: string },
  { from, to }: { from: number; to: number },
): Promise<SenderDay[]> {
  const rows = await sql<{ at: number; state: (typeof REPORTED)[number]; many: number; retried: number }[]>`
    select claimed_at / ${QUARTER_MS} * ${QUARTER_MS} as at, state, count(*)::int as many,
      (count(*) filter (where retried))::int as retried
    from messages
    -- Ids begin with the instant at which they were made, so that the key finds the messages of a time.
    where business_id = ${businessId} and id between ${firstIdAt(from - DAY_MS)} and ${firstIdAt(to + DAY_MS)}
      and channel = ${channel} and coalesce(sender, ${DEFAULT_SENDER}) = ${sender}
      and claimed_at between ${from} and ${to} and state <> 'claimed' and state <> 'skipped'
    group by 1, 2`
  const dayOf = createDayOf(timezone)
  const days = new Map<string, DayCounts>()
  for (const { at, state, many, retried } of rows) {
    const day = dayOf(at)
    const counts = days.get(day) ?? { ...noCounts() }
    days.set(day, { ...counts, [state]: counts[state] + many, retried: counts.retried + retried })
  }
  return [...days].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([day, counts]) => ({ day, ...counts }))
}

const noCounts = (): DayCounts => ({
  sent: 0,
  delivered: 0,
  bounced: 0,
  complained: 0,
  failed: 0,
  unknown: 0,
  retried: 0,
})

/** The lowest UUID v7 of an instant. */
function firstIdAt(at: number): string {
  const hex = Math.max(0, at).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** How many turns of the present day are taken, of each connection of a business that has limits. */
export async function readUsed(sql: Sql, businessId: string, now: number): Promise<(connection: SenderKey) => number> {
  const rows = await sql<{ channel: string; sender: string; sent: number }[]>`
    select channel, sender, sent_in_day::int as sent from sender_use
    where business_id = ${businessId} and day_ends_at > ${now}`
  return ({ channel, sender }) => rows.find((row) => row.channel === channel && row.sender === sender)?.sent ?? 0
}
