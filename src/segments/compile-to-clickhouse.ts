import type { FieldType } from '../rules/events/facts.ts'
import type { ResolvedRule, WindowedCondition } from '../rules/segments/rule.ts'
import { textLiteral } from '../stores/clickhouse-literal.ts'
import { readableJson } from './clickhouse/json-sql.ts'
import { noSources, type Sources } from './clickhouse/sources.ts'
import { whereSql } from './clickhouse/where-sql.ts'
import { aggregatesOf, PROPERTIES } from './clickhouse/windows-sql.ts'

export interface CompileOptions {
  businessId: string
  /** Custom fields of the business. */
  fields: ReadonlyMap<string, FieldType>
  /** Instant of the answer, in epoch milliseconds. */
  now: number
}

/**
 * Returns a ClickHouse query that selects the contacts for whom a rule is true at an instant: `contact_id` and
 * `created_ms`, each contact once. It agrees with `matches` (src/rules/segments/evaluate.ts) on the data that
 * ClickHouse has of the business. All values are literals in the text.
 *
 * It reads the tables and not the views for analysts, which would join the merged contacts of all businesses.
 */
export function compileToClickHouse(rule: ResolvedRule, options: CompileOptions): string {
  const sources = noSources()
  const where = whereSql(rule, { fields: options.fields, now: options.now, sources })
  const joined = [
    ...joinedSql('happened', statisticsSql(sources, options), options),
    ...joinedSql('recent', windowsSql(sources, options), options),
  ]
  return [
    `select contact.contact_id as contact_id, contact.created_ms as created_ms`,
    `from (${contactsSql(sources, options)}) as contact`,
    ...joined,
    `where ${where}`,
  ].join('\n')
}

/** Settings for a query that contains the text of `compileToClickHouse`, because rules can be long. */
export const COMPILED_SETTINGS = {
  max_query_size: '67108864',
  max_ast_elements: '1000000',
  max_expanded_ast_elements: '5000000',
  precise_float_parsing: 1,
  join_use_nulls: 0,
} as const

const ofBusiness = ({ businessId }: CompileOptions): string => `business_id = ${textLiteral(businessId)}`

function contactsSql({ columns }: Sources, options: CompileOptions): string {
  const wanted = new Map([['created_ms', 'created_ms'], ...columns])
  const selected = [...wanted].map(([name, expression]) => (name === expression ? name : `${expression} as ${name}`))
  return `select contact_id, ${selected.join(', ')}
from contact_snapshots final
where ${ofBusiness(options)} and merged_into is null and erased = 0`
}

/** What is stored of a contact under one of its ids, and how the values of two ids are combined. */
interface Column {
  name: string
  of: string
  united: string
}

interface PerContact {
  table: string
  where: string
  columns: Column[]
}

function statisticsSql({ events }: Sources, options: CompileOptions): PerContact | null {
  if (events.length === 0) return null
  const names = events.map(textLiteral)
  const columns = names.flatMap((event, place): Column[] => {
    const [is, isKnown] = [`event = ${event}`, `count_${place} > 0`]
    return [
      { name: `count_${place}`, of: `sumIf(s.count, ${is})`, united: `sum(one.count_${place})` },
      { name: `first_${place}`, of: `minIf(s.first_ms, ${is})`, united: `minIf(one.first_${place}, one.${isKnown})` },
      { name: `last_${place}`, of: `maxIf(s.last_ms, ${is})`, united: `maxIf(one.last_${place}, one.${isKnown})` },
    ]
  })
  return {
    table: 'event_statistics as s',
    where: `${ofBusiness(options)} and event in (${names.join(', ')})`,
    columns,
  }
}

function windowsSql({ windows }: Sources, options: CompileOptions): PerContact | null {
  if (windows.size === 0) return null
  const conditions = [...windows.values()]
  const columns = conditions.flatMap((condition, place): Column[] => {
    const { value, counted } = aggregatesOf(condition, options.now)
    return [
      { name: `value_${place}`, of: value, united: `sum(one.value_${place})` },
      { name: `counted_${place}`, of: counted, united: `sum(one.counted_${place})` },
    ]
  })
  const names = [...new Set(conditions.map(({ event }) => textLiteral(event)))]
  return { table: eventsSql(conditions), where: `${ofBusiness(options)} and event in (${names.join(', ')})`, columns }
}

function eventsSql(conditions: WindowedCondition[]): string {
  const readsProperties = conditions.some(({ where = [], metric }) => where.length > 0 || metric === 'sum')
  return readsProperties ? `(select *, ${readableJson('properties')} as ${PROPERTIES} from events)` : 'events'
}

function joinedSql(name: string, source: PerContact | null, options: CompileOptions): string[] {
  if (!source) return []
  const perId = `select contact_id, ${source.columns.map((column) => `${column.of} as ${column.name}`).join(', ')}
from ${source.table}
where ${source.where}
group by contact_id`
  const perPerson = unitedSql(perId, source.columns, options)
  return [`left join (${perPerson}) as ${name} on ${name}.contact_id = contact.contact_id`]
}

/** What was recorded for a merged contact belongs to its survivor. */
function unitedSql(perId: string, columns: Column[], options: CompileOptions): string {
  return `select coalesce(merged.survivor_id, one.contact_id) as contact_id,
  ${columns.map((column) => `${column.united} as ${column.name}`).join(', ')}
from (${perId}) as one
left join (
  select contact_id, survivor_id from contact_redirects final where ${ofBusiness(options)} and survivor_id is not null
) as merged on merged.contact_id = one.contact_id
group by contact_id`
}
