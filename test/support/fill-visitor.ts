import type { Sql } from '../../src/stores/postgres.ts'
import { NOW } from './facts.ts'

const HOUR = 3_600_000

/**
 * Creates `count` contacts (`p1@x.io` and so on) who were identified in one browser one after the other, the last one
 * an hour before NOW. Returns their ids in that order.
 */
export async function fillVisitor(sql: Sql, businessId: string, visitorId: string, count: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with people as (
      select n, gen_random_uuid() as id, ${NOW - HOUR}::bigint - ${count}::bigint + n as at from generate_series(1, ${count}) n
    ),
    made as (
      insert into contacts (business_id, id, created_at, keyed) select ${businessId}, id, at, true from people
    ),
    known as (
      insert into identities (business_id, kind, value, contact_id, proven)
      select ${businessId}, 'email', 'p' || n || '@x.io', id, true from people
    ),
    listed as (
      insert into contact_visitors (business_id, contact_id, visitor_id, linked_at)
      select ${businessId}, id, ${visitorId}, at from people
    ),
    linked as (
      insert into visitor_links (business_id, visitor_id, from_at, contact_id)
      select ${businessId}, ${visitorId}, case when n = 1 then 0 else at end, id from people
    ),
    seen as (
      insert into visitors (business_id, visitor_id, contact_id, linked_at, current_contact_id)
      select ${businessId}, ${visitorId}, p.id, p.at, l.id
      from people p join people l on l.n = ${count} where p.n = 1
    )
    select id from people order by n`
  return rows.map(({ id }) => id)
}
