/**
 * Values of conditions: the initial value of an operator, the value it takes over from another operator, and whether a
 * condition is complete.
 */
import { MAX_DAYS } from '../../../../rules/segments/grammar/limits.ts'
import type { Operand, ValueType } from '../../../../rules/segments/grammar/operators.ts'
import { STAGES } from './stages.ts'
import { type Draft, guessType, shapeOf, subjectOf, whereOf } from './condition.ts'

const FIRST: Record<Operand, unknown> = {
  none: undefined,
  days: 30,
  instant: '',
  number: null,
  range: [null, null],
  text: '',
  texts: [],
  stage: STAGES[0],
  stages: [],
}

/** Changes the operator, and keeps as much of the value as the new operator can use. */
export function withOperator(condition: Draft, from: ValueType, type: ValueType, operator: string): Draft {
  const { value, ignoreCase, ...rest } = condition
  const shape = shapeOf(type, operator)
  const next = convert(value, shapeOf(from, condition.operator), shape)
  const isText = shape === 'text' || shape === 'texts'
  return {
    ...rest,
    operator,
    ...(next !== undefined && { value: next }),
    ...(isText && ignoreCase === true && { ignoreCase }),
  }
}

const MANY: Partial<Record<Operand, Operand>> = { text: 'texts', stage: 'stages' }

function convert(value: unknown, from: Operand, to: Operand): unknown {
  if (from === to && value !== undefined) return value
  if (MANY[from] === to) return value === '' ? [] : [value]
  if (MANY[to] === from && Array.isArray(value)) return value[0] ?? FIRST[to]
  if (from === 'number' && to === 'range') return [value, null]
  if (from === 'range' && to === 'number' && Array.isArray(value)) return value[0]
  return FIRST[to]
}

const FIRST_OPERATOR: Record<ValueType, string> = {
  date: 'within_days',
  number: 'greater_than_or_equal',
  text: 'equals',
  boolean: 'is_true',
  stage: 'equals',
  tag: 'has',
  segment: 'is_member',
}

/** Completes a condition from the list of fields, which may lack the operator. */
export function firstCondition(start: Draft, type: ValueType): Draft {
  if (start.operator !== undefined) return start
  const condition = withOperator(start, type, type, FIRST_OPERATOR[type])
  return 'event' in condition && condition['metric'] === 'count' ? { ...condition, value: 1 } : condition
}

export const METRICS = ['count', 'last', 'first', 'sum'] as const
export type Metric = (typeof METRICS)[number]

/** Changes the metric of an event. Fields that only counts and sums have are removed for the others. */
export function withMetric(condition: Draft, metric: Metric): Draft {
  const { event, withinDays, where, operator, value } = condition
  if (metric === 'last' || metric === 'first') {
    const wasTime = condition['metric'] === 'last' || condition['metric'] === 'first'
    return wasTime ? { ...condition, metric } : firstCondition({ event, metric }, 'date')
  }
  const common = {
    event,
    metric,
    ...(metric === 'sum' && { property: 'value' }),
    ...(withinDays !== undefined && { withinDays }),
    ...(where !== undefined && { where }),
  }
  const wasNumber = condition['metric'] === 'count' || condition['metric'] === 'sum'
  return wasNumber ? { ...common, operator, ...(value !== undefined && { value }) } : firstCondition(common, 'number')
}

const isNumber = (value: unknown): boolean =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value === 'string' && /^[+-]?(\d+\.?\d*|\.\d+)/.test(value)
const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isText)
const isDays = (value: unknown): boolean => typeof value === 'number' && value > 0 && value <= MAX_DAYS

const IS_COMPLETE: Record<Operand, (value: unknown) => boolean> = {
  none: () => true,
  days: isDays,
  instant: isText,
  number: isNumber,
  range: (value) => Array.isArray(value) && value.length === 2 && value.every(isNumber),
  text: isText,
  texts: isTexts,
  stage: isText,
  stages: isTexts,
}

/** Returns the parts that the person still has to fill in. The server checks everything else. */
export function missingParts(condition: Draft, type: ValueType): string[] {
  const { operator, value, property, withinDays } = condition
  if (subjectOf(condition) === undefined) return []
  return [
    ...(IS_COMPLETE[shapeOf(type, operator)](value) ? [] : ['value']),
    ...(property === '' ? ['property'] : []),
    ...(withinDays === undefined || isDays(withinDays) ? [] : ['withinDays']),
    ...whereOf(condition).flatMap((one, at) => missingOf(one, `where[${at}]`)),
  ]
}

/** True when a condition on a property is complete. */
export const isCompleteWhere = (where: Draft): boolean => missingOf(where, '').length === 0

function missingOf(where: Draft, path: string): string[] {
  const isMissing = !IS_COMPLETE[shapeOf(guessType(where), where.operator)](where.value)
  return [...(where['property'] === '' ? [`${path}.property`] : []), ...(isMissing ? [`${path}.value`] : [])]
}
