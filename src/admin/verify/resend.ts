/**
 * Requests repairs in Postgres, where the shipper reads them. Nothing is sent from here. So a repair never conflicts with the
 * shipper, it is done even if this process is killed, and requesting it twice makes no difference: the shipper checks what
 * ClickHouse has before it sends (stamp-resent.ts).
 */
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { requestResync } from '../../timeline/request-resync.ts'
import { quoted } from '../../timeline/look-up-events.ts'
import { EVENT_COLUMNS, type TimelineRow } from '../../outbox/timeline-row.ts'
import { queryClickHouse } from './clickhouse-facts.ts'

/** Contacts, and events, per row of the outbox. */
const CONTACTS = 1000
const EVENTS = 1000

/** Ships rows of the outbox again. Rows that still wait stay as they are. Returns the number of rows. */
export async function resendRows(sql: Sql, ids: number[]): Promise<number> {
  const { count } = await sql`
    update outbox set shipped_at = null, group_id = null, resend = '{}'
    where id in (select json_array_elements_text(${JSON.stringify(ids)}::text::json)::bigint) and shipped_at is not null`
  return count
}

/**
 * Ships snapshots and statistics of contacts again. If ClickHouse has a higher revision than a Postgres that was restored from
 * a backup, it would ignore the new snapshot: the contact is first raised above that revision.
 */
export async function resendContacts(
  sql: Sql,
  businessId: string,
  contacts: { id: string; revision: number }[],
): Promise<number> {
  let sent = 0
  for (let at = 0; at < contacts.length; at += CONTACTS) {
    const some = contacts.slice(at, at + CONTACTS).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    await raiseRevisions(sql, businessId, some)
    const ids = some.map(({ id }) => id)
    sent += await requestResync(sql, businessId, ids)
  }
  return sent
}

async function raiseRevisions(
  sql: Sql,
  businessId: string,
  contacts: { id: string; revision: number }[],
): Promise<void> {
  await sql`
    with locked as (
      select c.id, x.revision from json_to_recordset(${JSON.stringify(contacts)}::text::json) as x (id uuid, revision bigint)
      join contacts c on c.business_id = ${businessId} and c.id = x.id
      where x.revision > c.revision and x.revision < ${Number.MAX_SAFE_INTEGER}
      order by c.id for no key update of c
    )
    update contacts c set revision = locked.revision + 1 from locked where c.business_id = ${businessId} and c.id = locked.id`
}

/**
 * Repairs events of which ClickHouse has several equal copies: one copy goes into the outbox, and the shipper sends it after
 * it has deleted them all. Returns the number of events.
 */
export async function resendDoubled(
  deps: { sql: Sql; clickhouse: ClickHouseClient },
  businessId: string,
  contactIds: string[],
): Promise<number> {
  let sent = 0
  for (let after = ''; ;) {
    const copies = await readCopies(deps.clickhouse, businessId, contactIds, after)
    const last = copies.at(-1)
    if (!last) return sent
    const alike = copies.filter(({ is_alike }) => is_alike === 1).map(({ is_alike: _, ...row }) => row)
    if (alike.length > 0) {
      await requestResync(deps.sql, businessId, [...new Set(alike.map((row) => row.contact_id))], alike)
      sent += alike.length
    }
    after = last.event_id
  }
}

/** Copies of one event agree in these; in all other columns they can differ. */
const COPY_KEY: (keyof TimelineRow)[] = ['business_id', 'contact_id', 'event_id', 'event', 'occurred_ms']

async function readCopies(clickhouse: ClickHouseClient, businessId: string, contactIds: string[], after: string) {
  const others = EVENT_COLUMNS.filter((column) => !COPY_KEY.includes(column))
  const columns = others.map(
    (column) => `${column === 'counted' ? 'toString(any(counted))' : `any(${column})`} as ${column}`,
  )
  return await queryClickHouse<TimelineRow & { is_alike: 0 | 1 }>(
    clickhouse,
    `select ${COPY_KEY.join(', ')}, ${columns.join(', ')},
      uniqExact((${others.map((column) => `e.${column}`).join(', ')})) = 1 as is_alike
    from events as e
    where business_id = '${businessId}' and contact_id in (${quoted(contactIds)}) and toString(event_id) > '${after}'
    group by ${COPY_KEY.join(', ')} having count() > 1
    order by toString(event_id) limit ${EVENTS}
    settings output_format_json_quote_64bit_integers = 0`,
  )
}

/** Lets the shipper repeat erasures, including what their browsers captured. Returns their number. */
export async function eraseAgain(sql: Sql, businessId: string, contactIds: string[]): Promise<number> {
  const [row] = await sql<{ erasures: number }[]>`
    with again as (
      update erasures set scrubbed_at = null, hidden_at = null, deleted_at = null
      where business_id = ${businessId} and contact_id = any(${`{${contactIds.join(',')}}`}::uuid[])
        and deleted_at is not null
      returning visitor_ids || shared_visitor_ids as browsers
    ), visits as (
      update erased_visits set behind = null, deleted_at = null, swept_at = null
      where business_id = ${businessId} and visitor_id in (select unnest(browsers) from again)
    )
    select count(*)::int as erasures from again`
  return row?.erasures ?? 0
}

/**
 * The number of repairs that are requested and not done yet, including all unfinished erasures from before `erasedBefore`.
 * Without visits that wait for web workers: those finish them.
 */
export async function countPending(sql: Sql, erasedBefore: Date): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`
    select (select count(*)::int from outbox where shipped_at is null and resend is not null)
      + (select count(*)::int from erasures where deleted_at is null and erased_at < ${erasedBefore})
      + (
        select count(*)::int from erased_visits
        where deleted_at is null and to_at < ${erasedBefore.getTime()}
          and not exists (select from positions where partition || ' ' || pending = any (behind))
      ) as rows`
  return row?.rows ?? 0
}
