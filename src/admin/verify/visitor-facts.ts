/** The data of a visitor that must be equal in both stores: its newest revision, and its numbers of links and touches. */
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import { queryClickHouse } from './clickhouse-facts.ts'
import type { Fact } from './facts.ts'
import type { PostgresState, IdStatus } from './postgres-facts.ts'

/** A range of the visitors of a business. Both stores order visitor ids by their bytes. */
export interface VisitorPage {
  businessId: string
  /** Exclusive. */
  after: string
  /** Inclusive; undefined means no end. */
  upTo: string | undefined
}

/** The ids of the next visitors, `max` at most. */
export async function readVisitorIds(sql: Sql, businessId: string, after: string, max: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select visitor_id as id from visitors where business_id = ${businessId} and visitor_id > ${after}
    order by visitor_id limit ${max}`
  return rows.map(({ id }) => id)
}

/** One statement, so as of one instant. A visitor whose erasure in ClickHouse is not finished counts as waiting, too. */
export async function readVisitorsInPostgres(sql: Sql, businessId: string, ids: string[]): Promise<PostgresState> {
  const rows = await sql<{ id: string; value: string | null; status: IdStatus }[]>`
    with wanted as materialized (select json_array_elements_text(${JSON.stringify(ids)}::text::json) collate "C" as id),
    waiting as materialized (
      select t.id from outbox o cross join unnest(o.visitor_business_ids, o.visitor_ids) as t (business_id, id)
      where o.shipped_at is null and t.business_id = ${businessId}
      union
      select unnest(visitor_ids) from erasures where business_id = ${businessId} and deleted_at is null
    )
    select w.id, v.revision || ' ' || (
        select count(*) from visitor_links l where l.business_id = v.business_id and l.visitor_id = v.visitor_id
      ) || ' ' || (
        select count(*) from visitor_touches t where t.business_id = v.business_id and t.visitor_id = v.visitor_id
      ) as value,
      case when w.id in (select id from waiting) then 'waiting' when v.visitor_id is null then 'unknown' else 'settled' end
        as status
    from wanted w left join visitors v on v.business_id = ${businessId} and v.visitor_id = w.id`
  return {
    facts: rows.flatMap(({ id, value }) => (value === null ? [] : [factOf(id, value)])),
    status: new Map(rows.map(({ id, status }) => [id, status])),
  }
}

export async function readVisitorsInClickHouse(
  clickhouse: ClickHouseClient,
  businessId: string,
  ids: string[],
): Promise<Fact[]> {
  return await readFacts(
    clickhouse,
    `business_id = '${businessId}' and visitor_id in (${ids.map(textLiteral).join(', ')})`,
  )
}

/** The visitors of a page, `max` at most. */
export async function readVisitorPage(
  clickhouse: ClickHouseClient,
  { businessId, after, upTo }: VisitorPage,
  max: number,
): Promise<Fact[]> {
  const end = upTo === undefined ? '' : ` and visitor_id <= ${textLiteral(upTo)}`
  const where = `business_id = '${businessId}' and visitor_id > ${textLiteral(after)}${end}`
  return await readFacts(clickhouse, where, `order by id limit ${max}`)
}

/** Only visitors that exist: for an erased one, both stores may still have links. */
async function readFacts(clickhouse: ClickHouseClient, where: string, rest = ''): Promise<Fact[]> {
  const rows = await queryClickHouse<{ id: string; value: string }>(
    clickhouse,
    `select visitor_id as id, concat(toString(max(revision)), ' ', toString(sum(links)), ' ', toString(sum(touches))) as value
    from (
      select visitor_id, revision, 0 as links, 0 as touches, 1 as is_there from visitors final where ${where} and erased = 0
      union all
      select visitor_id, 0, 1, 0, 0 from visitor_links final where ${where}
      union all
      select visitor_id, 0, 0, length(at_ms), 0 from visitor_touches final where ${where} and erased = 0
    )
    group by visitor_id having max(is_there) = 1 ${rest}`,
  )
  return rows.map(({ id, value }) => factOf(id, value))
}

const factOf = (id: string, value: string): Fact => ({ kind: 'visitor', id, name: '', value })
