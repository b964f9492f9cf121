import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import type { Different, RepairCounts, RepairDeps } from './kind.ts'
import { queryClickHouse } from './query-clickhouse.ts'

/** Visitors per query; and links, or visitors without links, per row of the outbox. */
const VISITORS = 1000
const LINKS = 5000

/** A visitor's highest revision in ClickHouse. */
interface VisitorRevision {
  id: string
  revision: string
}

/**
 * Ships visitors with their links and touches again. If ClickHouse has a higher revision than a Postgres that was
 * restored from a backup, it would ignore the new state, so the visitor is first raised above that revision.
 */
export async function resendVisitors(
  { writer, clickhouse }: RepairDeps,
  businessId: string,
  known: Different[],
): Promise<Partial<RepairCounts>> {
  let visitors = 0
  for (let at = 0; at < known.length; at += VISITORS) {
    const ids = known.slice(at, at + VISITORS).map(({ id }) => id)
    const revisions = await readRevisions(clickhouse, businessId, ids)
    await raiseSequence(writer, revisions)
    visitors += await requestVisitors(writer, businessId, ids, revisions)
  }
  return { visitors }
}

/** Returns the highest revisions in any table of ClickHouse, including those of erased visitors. */
async function readRevisions(clickhouse: ClickHouseClient, businessId: string, ids: string[]) {
  const where = `business_id = '${businessId}' and visitor_id in (${ids.map(textLiteral).join(', ')})`
  const all = ['visitors', 'visitor_links', 'visitor_touches'].map(
    (table) => `select visitor_id, revision from ${table} where ${where}`,
  )
  return await queryClickHouse<VisitorRevision>(
    clickhouse,
    `select visitor_id as id, toString(max(r.revision)) as revision from (${all.join(' union all ')}) as r group by id`,
  )
}

/** Raises the sequence. Keeps it odd, because it has steps of two, and even revisions are erasure marks. */
export async function raiseSequence(sql: Sql, revisions: Pick<VisitorRevision, 'revision'>[]): Promise<void> {
  await sql`
    select setval('visitor_revisions', greatest | 1)
    from (select max(revision) as greatest from json_to_recordset(${JSON.stringify(revisions)}::text::json) as x (revision bigint)) h,
      visitor_revisions
    where greatest > last_value and greatest < ${Number.MAX_SAFE_INTEGER}`
}

async function requestVisitors(sql: Sql, businessId: string, ids: string[], revisions: VisitorRevision[]) {
  const [row] = await sql<{ visitors: number }[]>`
    with there as materialized (
      select v.visitor_id, v.revision from visitors v
      where v.business_id = ${businessId}
        and v.visitor_id in (select json_array_elements_text(${JSON.stringify(ids)}::text::json) collate "C")
      order by v.visitor_id for no key update
    ), raised as (
      update visitors v set revision = nextval('visitor_revisions')
      from there join json_to_recordset(${JSON.stringify(revisions)}::text::json) as x (id text, revision bigint)
        on x.id = there.visitor_id
      where v.business_id = ${businessId} and v.visitor_id = there.visitor_id and x.revision > there.revision
    ), listed as (
      select visitor_id, l.from_at, row_number() over (order by visitor_id, l.from_at) / ${LINKS}::integer as part
      from there left join (select visitor_id, from_at from visitor_links where business_id = ${businessId}) l
        using (visitor_id)
    ), sent as (
      insert into outbox (events, event_count, business_ids, contact_ids, changed, visitor_business_ids, visitor_ids,
        visitor_link_from, visitor_touched, resend)
      select '', 0, '{}', '{}', '{}', array_agg(${businessId}::uuid), array_agg(visitor_id), array_agg(from_at),
        array_agg(true), '{}'
      from listed group by part
    )
    select count(*)::int as visitors from there`
  return row?.visitors ?? 0
}
