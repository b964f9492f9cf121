/**
 * How a segment reads the events of a contact (decisions, "Segments"). A contact without the event is undefined for every
 * metric, never zero.
 */

export const NUMBER_OPERATORS = [
  'equals',
  'not_equals',
  'greater_than',
  'greater_than_or_equal',
  'less_than',
  'less_than_or_equal',
  'between',
] as const
export type NumberOperator = (typeof NUMBER_OPERATORS)[number]

export const DATE_OPERATORS = ['exists', 'not_exists', 'within_days', 'older_than_days'] as const
export type DateOperator = (typeof DATE_OPERATORS)[number]

export const EVENT_METRICS = ['last', 'count', 'first'] as const
export type EventMetric = (typeof EVENT_METRICS)[number]

const DAY_MS = 86_400_000

/** Compares a count. `between` takes two operands, both ends in. Without the event every operator is false, `not_equals` too. */
export function evaluateNumber(
  operator: NumberOperator,
  [operand, end]: readonly [number, number?],
  value: number | undefined,
): boolean {
  if (value === undefined) return false
  switch (operator) {
    case 'equals':
      return value === operand
    case 'not_equals':
      return value !== operand
    case 'greater_than':
      return value > operand
    case 'greater_than_or_equal':
      return value >= operand
    case 'less_than':
      return value < operand
    case 'less_than_or_equal':
      return value <= operand
    case 'between':
      return end !== undefined && value >= operand && value <= end
  }
}

/** Compares an instant (`at`, epoch ms). A day is 24 hours before `now`, not a calendar day; `exists` and `not_exists` read no `days`. */
export function evaluateDate(operator: DateOperator, days: number, at: number | undefined, now: number): boolean {
  if (at === undefined) return operator === 'not_exists'
  switch (operator) {
    case 'exists':
      return true
    case 'not_exists':
      return false
    case 'within_days':
      return at >= now - days * DAY_MS
    case 'older_than_days':
      return at < now - days * DAY_MS
  }
}

/** The text form of a metric: `event.lesson_done.count`; a name with a dot is quoted: `event["order.count"].count`. */
export function eventPath(event: string, metric: EventMetric): string {
  const base = event.includes('.') ? `event[${JSON.stringify(event)}]` : `event.${event}`
  return metric === 'last' ? base : `${base}.${metric}`
}
