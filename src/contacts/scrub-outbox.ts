/** Takes an erased person out of the outbox: rows still to be shipped, and those kept to feed a damaged ClickHouse again. */
import type { Sql } from '../stores/postgres.ts'

/**
 * Idempotent. A scan of what the outbox keeps: it runs beside the pipeline and never in it.
 * No save can add rows of these ids any more: it asserts that its contacts exist.
 * @param ids every id of one erased person
 */
export async function scrubOutbox(sql: Sql, businessId: string, ids: string[]): Promise<void> {
  const erased = JSON.stringify(ids)
  await sql`
    with erased as (select array(select value::uuid from json_array_elements_text(${erased}::text::json)) as ids),
    scrubbed as (
      update outbox o set
        (events, event_count) = (
          select coalesce(string_agg(line, E'\n' order by place), ''), count(*)
          from unnest(string_to_array(nullif(o.events, ''), E'\n')) with ordinality as lines (line, place)
          where (line::json ->> 'contact_id')::uuid <> all (erased.ids)
        ),
        (business_ids, contact_ids) = (
          select coalesce(array_agg(b order by place), '{}'), coalesce(array_agg(c order by place), '{}')
          from unnest(o.business_ids, o.contact_ids) with ordinality as touched (b, c, place)
          where c <> all (erased.ids)
        )
      from erased where o.contact_ids && erased.ids
    )
    update erasures e set scrubbed_at = now() from erased
    where e.business_id = ${businessId} and e.contact_id = any (erased.ids) and e.scrubbed_at is null`
}
