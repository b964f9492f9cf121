import type { Sql } from '../../stores/postgres.ts'
import { findUnfinished, type GroupLimits } from './groups.ts'
import type { Lease } from '../lease.ts'
import { type Presence, dropWrongCopies, lookUpEvents } from '../../outbox/look-up-events.ts'
import { readTimelineRow, type TimelineRow } from '../../outbox/timeline-row.ts'
import { linesOf } from '../../outbox/pack-events.ts'
import type { ShipDeps } from './ship-deps.ts'

/** Two rounds are enough, unless another process interferes. */
const DELETIONS = 4

interface ResentRow {
  id: number
  events: string
}

/**
 * Makes the next group from rows that have to be sent again (`outbox.resend`; admin verify --repair). Tokens cannot
 * show which of their events ClickHouse has: it remembers a limited number of tokens, and a deleted row leaves its
 * token behind. So ClickHouse is queried for the events themselves, and the group contains only the events that it
 * lacks. Resolves with true when there is a group.
 *
 * The result is exact because nothing else can insert one of these events at the same time. No group is in progress
 * when ClickHouse is queried, only this process may stamp one (the statement requires the lease), and a row is stamped
 * once. After that, it is a group like any other: its list is fixed, its token is new, and it can be repeated safely.
 */
export async function claimResends(deps: ShipDeps, lease: Lease, limits: GroupLimits): Promise<boolean> {
  const { sql } = deps
  const rows = await readWaiting(sql, limits)
  if (rows.length === 0 || (await findUnfinished(sql)) !== undefined) return false
  const missing = await settleEvents(deps, rows.flatMap(eventsOf), lease)
  const stamps = rows.map((row) => ({ id: row.id, resend: takeOut(missing, row) }))
  const stamped = await sql`
    update outbox o set group_id = ${crypto.randomUUID()}, resend = array(select json_array_elements_text(x.resend)::uuid)
    from json_to_recordset(${JSON.stringify(stamps)}::text::json) as x (id bigint, resend json)
    where o.id = x.id and o.group_id is null and o.shipped_at is null and o.resend is not null
      and exists (select from timeline_lease where owner = ${lease.owner} and lease_until > now())
    returning 1`
  return stamped.length > 0
}

/**
 * Deletes wrong and duplicate copies, and resolves with the ids of the events that are absent afterwards. ClickHouse
 * finds duplicates part by part. Once a copy is gone from one part, the other copy is the only one in its own part, and
 * stays. The next round finds that copy, and deletes it if it differs.
 */
async function settleEvents({ clickhouse, log }: ShipDeps, rows: TimelineRow[], lease: Lease): Promise<Set<string>> {
  const events = [...new Map(rows.map((row) => [row.event_id, row])).values()]
  for (let round = 1; ; round += 1) {
    const presence = await lookUpEvents(clickhouse, events)
    const idsOf = (wanted: Presence) => [...presence].filter(([, state]) => state === wanted).map(([id]) => id)
    const wrong = idsOf('wrong').length
    // Events that cannot be deleted must not hold up other work.
    if (wrong > 0 && round > DELETIONS) log.error({ events: wrong }, 'events still differ: run admin verify --repair')
    if (wrong === 0 || round > DELETIONS) return new Set(idsOf('absent'))
    if (!lease.isHeld()) throw new Error('the timeline lease ran out')
    await dropWrongCopies(clickhouse, events)
  }
}

/** Reads the oldest rows, as many as fit into one group. The first row is taken whatever its size. */
async function readWaiting(sql: Sql, limits: GroupLimits): Promise<ResentRow[]> {
  return await sql<ResentRow[]>`
    select id, events from (
      select id, events, row_number() over sofar as place,
        sum(greatest(event_count, cardinality(contact_ids), cardinality(visitor_ids))) over sofar as total,
        sum(coalesce(unpacked_bytes, octet_length(events)) + coalesce(octet_length(segment_changes), 0)) over sofar
          as bytes
      from (
        select id, event_count, events, unpacked_bytes, segment_changes, contact_ids, visitor_ids from outbox
        where shipped_at is null and group_id is null and resend is not null
        order by id limit ${limits.events}
      ) oldest
      window sofar as (order by id)
    ) waiting
    where place = 1 or (total <= ${limits.events} and bytes <= ${limits.bytes})
    order by id`
}

const eventsOf = ({ events }: ResentRow): TimelineRow[] =>
  linesOf(events).flatMap((line) => readTimelineRow(line) ?? [])

/** An event that is in two rows is assigned to the first. */
function takeOut(missing: Set<string>, row: ResentRow): string[] {
  return eventsOf(row)
    .map((event) => event.event_id)
    .filter((id) => missing.delete(id))
}
