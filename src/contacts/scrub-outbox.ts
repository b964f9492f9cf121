/** Takes an erased person out of the outbox: rows still to be shipped, and those kept to feed a damaged ClickHouse again. */
import type { Sql } from '../stores/postgres.ts'
import { unpackRows } from '../timeline/unpack-rows.ts'

/** Rows looked at by one statement: each is short, however much the outbox keeps. */
const STEP = 10_000

/**
 * Idempotent. A scan of what the outbox keeps: it runs beside the pipeline and never in it.
 * No save can add rows of these ids any more: it asserts that its contacts exist.
 * @param ids every id of one erased person
 */
export async function scrubOutbox(sql: Sql, businessId: string, ids: string[]): Promise<void> {
  const erased = JSON.stringify(ids)
  const [kept] = await sql<{ first: number | null; last: number }[]>`
    select min(id) as first, max(id) as last from outbox`
  if (typeof kept?.first === 'number')
    for (let from = kept.first; from <= kept.last; from += STEP) await scrubRows(sql, erased, from, from + STEP)
  await sql`
    update erasures set scrubbed_at = now()
    where business_id = ${businessId} and scrubbed_at is null
      and contact_id in (select value::uuid from json_array_elements_text(${erased}::text::json))`
}

/** @param erased a JSON array of ids */
async function scrubRows(sql: Sql, erased: string, from: number, below: number): Promise<void> {
  const packed = await sql<{ id: number }[]>`
    select id from outbox
    where id >= ${from} and id < ${below} and unpacked_bytes is not null
      and contact_ids && array(select value::uuid from json_array_elements_text(${erased}::text::json))`
  await unpackRows(
    sql,
    packed.map(({ id }) => id),
  )
  await sql`
    with erased as (select array(select value::uuid from json_array_elements_text(${erased}::text::json)) as ids)
    update outbox o set
      (events, event_count) = (
        select coalesce(string_agg(line, E'\n' order by place), ''), count(*)
        from unnest(string_to_array(nullif(o.events, ''), E'\n')) with ordinality as lines (line, place)
        where (line::json ->> 'contact_id')::uuid <> all (erased.ids)
      ),
      (business_ids, contact_ids, changed) = (
        select coalesce(array_agg(b order by place), '{}'), coalesce(array_agg(c order by place), '{}'),
          coalesce(array_agg(is_new order by place), '{}')
        from unnest(o.business_ids, o.contact_ids, o.changed) with ordinality as touched (b, c, is_new, place)
        where c <> all (erased.ids)
      )
    from erased where o.id >= ${from} and o.id < ${below} and o.contact_ids && erased.ids`
}
