import type { Queryable } from '../../stores/postgres.ts'
import { encodeTimelineRow, type TimelineRow } from '../../outbox/timeline-row.ts'

/**
 * Requests that the shipper check these contacts again, with a row in the outbox (claim-resends.ts). It makes their
 * snapshots and statistics equal to those in Postgres, and sends the events among `events` that ClickHouse lacks.
 * Repeated requests make no difference. Resolves with the number of contacts.
 *
 * Covers only contacts that exist, and that cannot be erased before this is written: an erasure searches the outbox.
 */
export async function requestResync(
  sql: Queryable,
  businessId: string,
  contactIds: string[],
  events: TimelineRow[] = [],
): Promise<number> {
  const lines = JSON.stringify(events.map((row) => ({ id: row.contact_id, line: encodeTimelineRow(row) })))
  const [row] = await sql<{ contacts: number }[]>`
    with alive as materialized (
      select c.id from contacts c
      where c.business_id = ${businessId} and c.id = any(${`{${contactIds.join(',')}}`}::uuid[])
      order by c.id for key share
    ), lines as (
      select x.line from json_to_recordset(${lines}::text::json) as x (id uuid, line text) join alive on alive.id = x.id
    ), sent as (
      insert into outbox (events, event_count, business_ids, contact_ids, changed, resend)
      select (select coalesce(string_agg(line, E'\\n'), '') from lines), (select count(*) from lines),
        array_agg(${businessId}::uuid), array_agg(id), array_agg(true), '{}'
      from alive having count(*) > 0
    )
    select count(*)::int as contacts from alive`
  return row?.contacts ?? 0
}
