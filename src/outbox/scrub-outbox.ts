/**
 * Removes erased people from the outbox: from rows that are not shipped yet, and from rows that are kept to restore a
 * damaged ClickHouse.
 */
import type { Sql } from '../stores/postgres.ts'
import { unpackRows } from './unpack-rows.ts'

/** Number of rows per statement: each statement is short, however many rows the outbox keeps. */
const CHUNK_ROWS = 10_000

export interface ErasedContact {
  business_id: string
  contact_id: string
}

/** One walk through the outbox for a group of people: no index leads from a contact to its rows. */
export interface Scrub {
  people: readonly ErasedContact[]
  next: number
  last: number
}

/** @param ids all ids of one erased person */
export async function scrubOutbox(sql: Sql, businessId: string, ids: string[]): Promise<void> {
  const people = ids.map((contact_id) => ({ business_id: businessId, contact_id }))
  await continueScrub(sql, await beginScrub(sql, people))
}

/**
 * Starts a walk. Rows that are saved during the walk can be skipped: a person in `erasures` no longer has a contact,
 * and each save asserts that its contacts exist and locks them until its own row is written. So all rows of these
 * people are between the current first and last row, however long the walk takes, and no matter which worker ships them
 * in the meantime.
 */
export async function beginScrub(sql: Sql, people: readonly ErasedContact[]): Promise<Scrub> {
  const [range] = await sql<[{ first: number; last: number }]>`
    select coalesce(min(id), 0) as first, coalesce(max(id), -1) as last from outbox`
  return { people, next: range.first, last: range.last }
}

/**
 * Continues for `ms` milliseconds, but for at least one step. It runs outside the pipeline. Resolves with true when all
 * rows are scrubbed. Idempotent.
 */
export async function continueScrub(
  sql: Sql,
  scrub: Scrub,
  { ms = Infinity, rows = CHUNK_ROWS } = {},
): Promise<boolean> {
  const ids = JSON.stringify(scrub.people.map(({ contact_id }) => contact_id))
  const until = performance.now() + ms
  while (scrub.next <= scrub.last) {
    await scrubRows(sql, ids, scrub.next, scrub.next + rows)
    scrub.next += rows
    if (performance.now() >= until) break
  }
  if (scrub.next <= scrub.last) return false
  await sql`
    update erasures e set scrubbed_at = now()
    from json_to_recordset(${JSON.stringify(scrub.people)}::text::json) as x (business_id uuid, contact_id uuid)
    where e.business_id = x.business_id and e.contact_id = x.contact_id and e.scrubbed_at is null`
  return true
}

/** @param erased a JSON array of ids */
async function scrubRows(sql: Sql, erased: string, from: number, below: number): Promise<void> {
  const theirs = await sql<{ id: number; packed: boolean }[]>`
    select id, unpacked_bytes is not null as packed from outbox
    where id >= ${from} and id < ${below}
      and contact_ids && array(select value::uuid from json_array_elements_text(${erased}::text::json))`
  if (theirs.length === 0) return
  const packed = theirs.filter((row) => row.packed)
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
    from erased where o.id = any(${`{${theirs.map(({ id }) => id).join(',')}}`}::bigint[]) and o.contact_ids && erased.ids`
}
