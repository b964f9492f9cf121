/**
 * Writes the values to Postgres on which the timeline, its statistics and the snapshots agree (diagnose-postgres.ts).
 */
import type { Sql } from '../../stores/postgres.ts'
import type { Correction } from './diagnose-postgres.ts'

/**
 * Corrects contacts in one statement. Skips contacts that have changed since, or were merged or erased; the next run
 * handles them. Increments the revision, so that the new state is sent to ClickHouse, and the version, so that no
 * worker decides by the old state.
 *
 * Identities that another contact has taken since stay there. A restored identity counts as proven on a contact that
 * servers have used. The primary identity becomes primary again.
 *
 * @returns the ids of the corrected contacts
 */
export async function correctPostgres(sql: Sql, businessId: string, corrections: Correction[]): Promise<string[]> {
  const contacts = corrections.map(({ id, revision, orders }) => ({ id, revision, orders }))
  const statistics = corrections.flatMap(({ id, statistics }) =>
    statistics.map(({ event, value }) => {
      const [count = null, first_at = null, last_at = null] = value?.split(' ') ?? []
      return { id, event, count, first_at, last_at }
    }),
  )
  const revenue = corrections.flatMap(({ id, revenue }) => revenue.map((one) => ({ id, ...one })))
  const identities = corrections.flatMap(({ id, identities }) =>
    identities.map(({ kind, value, phoneRead }, place) => ({ id, kind, value, phone_read: phoneRead, place })),
  )
  const rows = await sql<{ id: string }[]>`
    with locked as materialized (
      select c.id, c.keyed, x.orders
      from json_to_recordset(${JSON.stringify(contacts)}::text::json) as x (id uuid, revision bigint, orders bigint)
      join contacts c on c.business_id = ${businessId} and c.id = x.id and c.revision = x.revision and c.merged_into is null
      order by c.id for no key update of c
    ),
    figures as materialized (
      select x.* from json_to_recordset(${JSON.stringify(statistics)}::text::json)
        as x (id uuid, event text, count bigint, first_at bigint, last_at bigint)
      join locked on locked.id = x.id
    ),
    counted as (
      insert into event_statistics as s (business_id, contact_id, event, first_at, last_at, count)
      select ${businessId}, id, event, first_at, last_at, count from figures where count is not null
      on conflict (business_id, contact_id, event) do update set
        first_at = excluded.first_at, last_at = excluded.last_at, count = excluded.count
    ),
    uncounted as (
      delete from event_statistics s using figures f
      where f.count is null and s.business_id = ${businessId} and s.contact_id = f.id and s.event = f.event collate "C"
    ),
    amounts as (
      insert into revenue as r (business_id, contact_id, currency, amount)
      select ${businessId}, x.id, x.currency, x.amount
      from json_to_recordset(${JSON.stringify(revenue)}::text::json) as x (id uuid, currency text, amount numeric)
      join locked on locked.id = x.id
      on conflict (business_id, contact_id, currency) do update set amount = excluded.amount
    ),
    known as (
      insert into identities as i (business_id, kind, value, contact_id, proven, phone_read, position, is_primary, named)
      select ${businessId}, x.kind, x.value, x.id, x.keyed, x.phone_read,
        case when x.is_first then coalesce((
          select min(o.position) - 1 from identities o
          where o.business_id = ${businessId} and o.contact_id = x.id and o.kind = x.kind collate "C"
        ), nextval('identities_position_seq')) else nextval('identities_position_seq') end,
        x.is_first and x.is_address, case when x.is_first and x.is_address then nextval('identities_position_seq') end
      from (
        select s.*, locked.keyed, s.kind in ('email', 'phone') as is_address,
          s.place = first_value(s.place) over (partition by s.id, s.kind order by s.place) as is_first
        from json_to_recordset(${JSON.stringify(identities)}::text::json)
          as s (id uuid, kind text, value text, phone_read boolean, place integer)
        join locked on locked.id = s.id
      ) x
      on conflict do nothing
      returning i.contact_id, i.kind, i.is_primary
    ),
    replaced as (
      update identities i set is_primary = false from known
      where known.is_primary and i.business_id = ${businessId} and i.contact_id = known.contact_id
        and i.kind = known.kind and i.is_primary
    )
    update contacts c set
      revision = c.revision + 1, version = c.version + 1, order_count = coalesce(locked.orders, c.order_count)
    from locked where c.business_id = ${businessId} and c.id = locked.id
    returning c.id`
  return rows.map(({ id }) => id)
}
