/** Facts that must be equal for each visitor. Both stores order visitor ids by their bytes. */
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import type { Sql } from '../../stores/postgres.ts'
import { countOf, noteOfState } from './contact-kinds.ts'
import type { FactKind, Fragment, Scope } from './kind.ts'

const where = (sql: Sql, scope: Scope): Fragment =>
  'ids' in scope
    ? sql`business_id = ${scope.businessId} and visitor_id = any(array(${textsIn(sql, scope.ids)}))`
    : sql`business_id = ${scope.businessId} and visitor_id > ${scope.after} and visitor_id <= ${scope.upTo}`

const textsIn = (sql: Sql, texts: string[]): Fragment =>
  sql`select json_array_elements_text(${JSON.stringify(texts)}::text::json) collate "C"`

function within(scope: Scope): string {
  const business = `business_id = '${scope.businessId}'`
  if ('ids' in scope) return `${business} and visitor_id in (${scope.ids.map(textLiteral).join(', ')})`
  return `${business} and visitor_id > ${textLiteral(scope.after)} and visitor_id <= ${textLiteral(scope.upTo)}`
}

export const VISITOR_KINDS: Record<string, FactKind> = {
  /** `revision links touches`; the latter two are counts. */
  visitor: {
    name: 'visitor',
    postgres: (sql, scope) => sql`
      select 'visitor', visitor_id, '', revision || ' ' || (
          select count(*) from visitor_links l where l.business_id = v.business_id and l.visitor_id = v.visitor_id
        ) || ' ' || (
          select count(*) from visitor_touches t where t.business_id = v.business_id and t.visitor_id = v.visitor_id
        )
      from visitors v where ${where(sql, scope)}`,
    // Only visitors that exist: both stores may still have links of an erased one.
    clickhouse: (scope) => `
      select 'visitor' as kind, visitor_id as id, '' as name,
        concat(toString(max(revision)), ' ', toString(sum(links)), ' ', toString(sum(touches))) as value
      from (
        select visitor_id, revision, 0 as links, 0 as touches, 1 as is_there from visitors final where ${within(scope)} and erased = 0
        union all
        select visitor_id, 0, 1, 0, 0 from visitor_links final where ${within(scope)}
        union all
        select visitor_id, 0, 0, length(at_ms), 0 from visitor_touches final where ${within(scope)} and erased = 0
      )
      group by visitor_id having max(is_there) = 1`,
    describe(value) {
      const [revision, links, touches] = value.split(' ')
      return `revision ${revision}, links ${links}, touches ${touches}`
    },
    note: noteOfState,
    isStale: ({ postgres, clickhouse }) => countOf(postgres) > countOf(clickhouse),
    repairs: ['state'],
  },
}

/**
 * Selects the visitors' ids with their states. A visitor whose erasure in ClickHouse is not finished also counts as
 * waiting.
 */
export const statusOfVisitors = (sql: Sql, businessId: string, ids: string[]): Fragment => sql`
  with wanted (id) as materialized (${textsIn(sql, ids)}),
  waiting as materialized (
    select t.id from outbox o cross join unnest(o.visitor_business_ids, o.visitor_ids) as t (business_id, id)
    where o.shipped_at is null and t.business_id = ${businessId}
    union
    select unnest(visitor_ids) from erasures where business_id = ${businessId} and deleted_at is null
  )
  select 'status', w.id, '', case
    when w.id in (select id from waiting) then 'waiting' when v.visitor_id is null then 'unknown' else 'settled' end
  from wanted w left join visitors v on v.business_id = ${businessId} and v.visitor_id = w.id`
