/** Rules as ClickHouse conditions, equal to the interpreter in src/rules/segments. No condition is ever null. */
import type { FieldType } from '../../rules/events/facts.ts'
import { isWindowed } from '../../rules/segments/condition-kinds.ts'
import { neededType } from '../../rules/segments/grammar/operators.ts'
import type {
  CustomFieldCondition,
  DateOperator,
  EventCountCondition,
  EventTimeCondition,
  ResolvedFactCondition,
  ResolvedRule,
  WindowedCondition,
} from '../../rules/segments/rule.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import { attributeSql } from './attribute-sql.ts'
import { conditionSql, dateSql, decimalSql, FALSE, numberSql } from './compare-sql.ts'
import { jsonConditionSql } from './json-sql.ts'
import { columnOf, type Sources, statisticOf, windowOf } from './sources.ts'
import { scaleOf } from './windows-sql.ts'

export interface WhereContext {
  fields: ReadonlyMap<string, FieldType>
  /** Epoch milliseconds. */
  now: number
  sources: Sources
}

export function whereSql(rule: ResolvedRule, context: WhereContext): string {
  if ('all' in rule) return `(${rule.all.map((inner) => whereSql(inner, context)).join(' and ')})`
  if ('any' in rule) return `(${rule.any.map((inner) => whereSql(inner, context)).join(' or ')})`
  if ('not' in rule) return `not (${whereSql(rule.not, context)})`
  if (!('segment' in rule)) return factSql(rule, context)
  return rule.operator === 'is_member' ? whereSql(rule.rule, context) : `not (${whereSql(rule.rule, context)})`
}

function factSql(condition: ResolvedFactCondition, context: WhereContext): string {
  if ('event' in condition) return isWindowed(condition) ? windowSql(condition, context) : eventSql(condition, context)
  if ('customField' in condition) return fieldSql(condition, context)
  if ('attribute' in condition) return attributeSql(condition, context)
  const has = `has(${columnOf(context.sources, 'tags')}, ${textLiteral(condition.tag)})`
  return condition.operator === 'has' ? has : `not ${has}`
}

function eventSql(condition: EventTimeCondition | EventCountCondition, { sources, now }: WhereContext): string {
  const { event, operator } = condition
  const count = statisticOf(sources, event, 'count')
  const test =
    condition.metric === 'count'
      ? numberSql(`toFloat64(${count})`, condition.operator, condition)
      : dateSql(statisticOf(sources, event, condition.metric), condition.operator, condition, {
          now,
          mayBeAhead: false,
        })
  return conditionSql(`${count} > 0`, operator, test)
}

function windowSql(condition: WindowedCondition, { sources }: WhereContext): string {
  const { value, counted } = windowOf(sources, condition)
  const { operator } = condition
  const test =
    condition.metric === 'count'
      ? numberSql(`toFloat64(${value})`, operator, condition)
      : decimalSql(value, scaleOf(condition), operator, condition)
  return conditionSql(`${counted} > 0`, operator, test)
}

/** A field that is not in the list yet has the type of its value. */
function fieldSql(condition: CustomFieldCondition, { fields, now, sources }: WhereContext): string {
  const { customField, operator } = condition
  const key = textLiteral(customField)
  const json = `${columnOf(sources, 'field_values', FIELD_VALUES)}[${key}]`
  const type = neededType(condition)
  if (type === null) return operator === 'exists' ? `${json} != ''` : `${json} = ''`
  const known = fields.get(customField)
  if (known !== undefined && known !== type) return FALSE
  if (type !== 'Date' && (type !== 'Text' || known === 'Text')) return jsonConditionSql(json, type, condition)
  const dates = columnOf(sources, 'date_fields')
  const isDate = `mapContains(${dates}, ${key})`
  if (type === 'Text') return jsonConditionSql(json, type, condition, isDate)
  const test = dateSql(`${dates}[${key}]`, operator as DateOperator, condition, { now, mayBeAhead: true })
  return conditionSql(isDate, operator, test)
}

/** The fields that are set, as JSON text. */
const FIELD_VALUES = `cast(JSONExtractKeysAndValuesRaw(custom_fields), 'Map(String, String)')`
