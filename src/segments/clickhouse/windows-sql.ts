/** Windowed counts and sums over the events of the timeline (segments, "Windowed counts and sums"). */
import { neededType } from '../../rules/segments/grammar/operators.ts'
import { spanOf } from '../../rules/segments/compile/compare-dates.ts'
import type { NumberOperator, PropertyCondition, TextOperator, WindowedCondition } from '../../rules/segments/rule.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import { conditionSql, numberSql, textSql } from './compare-sql.ts'
import { type JsonType, isNumberSql, jsonConditionSql, propertySql } from './json-sql.ts'

/** How far in the future an event may have been dated, in milliseconds. */
const AHEAD_MS = 300_000

/** Decimal places of amounts, and of summed properties, which have no limit of their own. */
const AMOUNT_SCALE = 6
const PROPERTY_SCALE = 38
/** Summed property values are below this, so that sums are exact. A greater value adds nothing. */
const MOST_ADDED = 1e30

export const isOfMoney = ({ metric, property }: WindowedCondition): boolean => metric === 'sum' && property === 'value'

/** Decimal places of the value of a sum. */
export const scaleOf = (condition: WindowedCondition): number => (isOfMoney(condition) ? AMOUNT_SCALE : PROPERTY_SCALE)

/** A column that queries on `events` add: the properties after `readableJson`. */
export const PROPERTIES = 'readable_properties'

/** JSON text of a property, in a query on `events` with `PROPERTIES`. */
export const eventPropertySql = (path: string): string => propertySql('properties', PROPERTIES, path)

/** True for events that count. */
export function matchingSql(condition: WindowedCondition, now: number): string {
  const { withinDays } = condition
  const times =
    withinDays === undefined ? [] : [`occurred_ms between ${now - spanOf(withinDays)} and ${now + AHEAD_MS}`]
  return [...times, timelessSql(condition)].join(' and ')
}

/** True for events that count while they are in the window. */
export const timelessSql = ({ event, where = [] }: WindowedCondition): string =>
  [`event = ${textLiteral(event)}`, ...where.map(propertyConditionSql)].join(' and ')

/**
 * The value of a condition over several events, and the number of values that went into it: 0 when the value is
 * undefined.
 */
export function aggregatesOf(condition: WindowedCondition, now: number): { value: string; counted: string } {
  const matches = matchingSql(condition, now)
  if (condition.metric === 'count') return { value: `countIf(${matches})`, counted: `countIf(${matches})` }
  const { added, isAdded } = addedSql(condition)
  const isCounted = `${matches} and ${isAdded}`
  return { value: `sumIf(${added}, ${isCounted})`, counted: `countIf(${isCounted})` }
}

/** What an event adds to a sum, and whether it adds anything. */
export function addedSql({ property = '', currency = '' }: WindowedCondition): { added: string; isAdded: string } {
  if (property === 'value') return { added: 'counted', isAdded: `ifNull(currency = ${textLiteral(currency)}, 0)` }
  // The other fields that take precedence over properties are texts.
  if (property === 'currency' || property === 'type') return { added: 'counted', isAdded: '0' }
  const json = eventPropertySql(property)
  return {
    added: `toDecimal256OrZero(${json}, ${PROPERTY_SCALE})`,
    isAdded: `${isNumberSql(json)} and abs(toFloat64OrZero(${json})) < ${MOST_ADDED}`,
  }
}

/** True when the condition holds for an event, in a query on `events` with `PROPERTIES`. */
export function propertyConditionSql(condition: PropertyCondition): string {
  const { property, operator } = condition
  switch (property) {
    case 'value': {
      const test = numberSql('assumeNotNull(value)', operator as NumberOperator, condition)
      return conditionSql('isNotNull(value)', operator, test)
    }
    case 'currency': {
      const test = textSql('assumeNotNull(currency)', operator as TextOperator, condition)
      return conditionSql('isNotNull(currency)', operator, test)
    }
    case 'type':
      return conditionSql('1', operator, textSql('type', operator as TextOperator, condition))
    default: {
      const json = eventPropertySql(property)
      const type = neededType(condition)
      return type === null
        ? conditionSql(`${json} not in ('', 'null')`, operator, '1')
        : jsonConditionSql(json, type as JsonType, condition)
    }
  }
}
