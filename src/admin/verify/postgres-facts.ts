import { STAGES } from '../../rules/events/journey-stage.ts'
import type { PendingQuery, Row } from 'postgres'
import type { Sql } from '../../stores/postgres.ts'
import type { Checksum, ContactChecksum, Fact, Scope, Slice } from './facts.ts'

/** The state of an id in Postgres. `waiting`: a part of it is not shipped yet. */
export type IdStatus = 'settled' | 'waiting' | 'erased' | 'unknown'

export interface PostgresState {
  facts: Fact[]
  status: Map<string, IdStatus>
}

/** One statement, so the sums are as of one instant. */
export async function sumPostgres(sql: Sql, slice: Slice): Promise<Checksum[]> {
  return await sql<Checksum[]>`
    select kind, right(id::text, 2) as bucket, count(*)::int as count, ${sumOf(sql, sql`hash`)} as sum
    from (${hashesIn(sql, slice)}) hashed group by 1, 2`
}

/** Checksums by contact, of contacts whose ids end with one of `buckets`. The facts of events count twice: see `withStatistics`. */
export async function sumContactsInPostgres(sql: Sql, slice: Slice, buckets: string[]): Promise<ContactChecksum[]> {
  return await sql<ContactChecksum[]>`
    select id, ${sumOf(sql, sql`case kind when 'events' then 2 * hash::numeric else hash end`)} as sum
    from (${hashesIn(sql, slice)}) hashed
    where right(id::text, 2) in (select json_array_elements_text(${JSON.stringify(buckets)}::text::json))
    group by id`
}

const hashesIn = (sql: Sql, scope: Scope) => sql`
  select kind, id, ('x' || substr(md5(id || ' ' || name || ' ' || value), 1, 16))::bit(64)::bigint as hash
  from (${factsIn(sql, scope)}) facts`

/** The sum as an unsigned 64-bit number that overflows like that of ClickHouse. */
const sumOf = (sql: Sql, hash: PendingQuery<Row[]>) =>
  sql`(((sum(${hash}) % ${TWO_TO_64}::numeric) + ${TWO_TO_64}::numeric) % ${TWO_TO_64}::numeric)::text`

const TWO_TO_64 = '18446744073709551616'

/**
 * The facts and states of some contacts, in one statement, so as of one instant. A contact that is not `waiting` is complete
 * in ClickHouse: its rows of the outbox are marked as shipped.
 */
export async function readPostgres(sql: Sql, businessId: string, ids: string[]): Promise<PostgresState> {
  const rows = await sql<(Omit<Fact, 'kind'> & { kind: Fact['kind'] | 'status' })[]>`
    with wanted as (select unnest(${`{${ids.join(',')}}`}::uuid[]) as id),
    waiting as (
      select distinct t.id from outbox o cross join unnest(o.contact_ids) as t (id) join wanted on wanted.id = t.id
      where o.shipped_at is null
    )
    select kind, id, name, value from (${factsIn(sql, { businessId, ids })}) facts
    union all
    select 'status', w.id, '', case
      when exists (select from waiting where waiting.id = w.id) then 'waiting'
      when exists (select from contacts c where c.business_id = ${businessId} and c.id = w.id) then 'settled'
      when exists (select from erasures e where e.business_id = ${businessId} and e.contact_id = w.id) then 'erased'
      else 'unknown' end
    from wanted w`
  const status = rows.filter(({ kind }) => kind === 'status')
  return {
    facts: rows.filter((row): row is Fact => row.kind !== 'status'),
    status: new Map(status.map(({ id, value }) => [id, value as IdStatus])),
  }
}

/** Every column of a snapshot (send-snapshots.ts) as one text; `clickhouse-facts.ts` makes the same text. */
const contentOf = (sql: Sql) => sql`
  concat_ws(chr(31), c.created_at, coalesce(c.merged_into::text, ''),
    coalesce((string_to_array(${STAGES.join(',')}, ','))[c.stage + 1], ''), c.order_count,
    coalesce((
      select string_agg(sums.text, ',' order by sums.text collate "C") from (
        select r.currency || '=' || trim_scale(r.amount) as text from revenue r
        where r.business_id = c.business_id and r.contact_id = c.id
      ) sums
    ), ''),
    '{' || coalesce((
      select string_agg(to_json(t.key)::text || ':' || (t.value ->> 1), ',' order by t.place)
      from jsonb_each(c.traits) with ordinality as t (key, value, place) where t.value ->> 1 is not null
    ), '') || '}',
    array_to_string(c.tags, chr(30)),
    (
      select concat_ws(chr(31),
        coalesce(string_agg(i.value, chr(30) order by i.proven desc, i.position) filter (where i.kind = 'email'), ''),
        coalesce(string_agg(case when i.phone_read then '+' || i.value else i.value end, chr(30)
          order by i.proven desc, i.position) filter (where i.kind = 'phone'), ''),
        coalesce(string_agg(i.value, chr(30) order by i.proven desc, i.position)
          filter (where i.kind = 'platformCustomerId'), ''))
      from identities i where i.business_id = c.business_id and i.contact_id = c.id
    ),
    coalesce(c.first_name, chr(1)), coalesce(c.last_name, chr(1)), coalesce(c.country, chr(1)),
    coalesce(c.city, chr(1)), coalesce(c.language, chr(1)), coalesce(c.timezone, chr(1)))`

function factsIn(sql: Sql, scope: Scope) {
  const where = (column: string) =>
    'ids' in scope
      ? sql`business_id = ${scope.businessId} and ${sql(column)} = any(${`{${scope.ids.join(',')}}`}::uuid[])`
      : sql`business_id = ${scope.businessId} and ${sql(column)} > ${scope.after} and ${sql(column)} <= ${scope.upTo}`
  return sql`
    select 'events' as kind, contact_id as id, event as name, count || ' ' || first_at || ' ' || last_at as value
    from event_statistics where ${where('contact_id')}
    union all
    select 'revenue', contact_id, currency, trim_scale(amount)::text
    from revenue where ${where('contact_id')} and amount <> 0
    union all
    select 'orders', id, '', order_count::text from contacts where ${where('id')} and order_count <> 0
    union all
    select 'contact', id, '', revision || ' ' || md5(${contentOf(sql)}) from contacts c where ${where('id')}
    union all
    select 'merge', id, '', merged_into::text from contacts where ${where('id')} and merged_into is not null`
}

/** The greatest id of the next `size` contacts after `after`; undefined when fewer are left. */
export async function endOfSlice(sql: Sql, businessId: string, after: string, size: number) {
  const [row] = await sql<{ id: string }[]>`
    select id from contacts where business_id = ${businessId} and id > ${after} order by id offset ${size - 1} limit 1`
  return row?.id
}

export async function countSlice(sql: Sql, { businessId, after, upTo }: Slice): Promise<number> {
  const [row] = await sql<[{ contacts: number }]>`
    select count(*)::int as contacts from contacts where business_id = ${businessId} and id > ${after} and id <= ${upTo}`
  return row.contacts
}
