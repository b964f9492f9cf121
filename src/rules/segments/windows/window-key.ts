import type { PropertyCondition, WindowedCondition } from '../rule.ts'

/**
 * Returns a key for what a windowed condition counts or sums, whatever it is compared with: conditions with the same
 * key share one answer. It is the JSON of these parts of the condition, in a fixed order.
 */
export function windowKey(condition: WindowedCondition): string {
  const { event, metric, property, currency, withinDays, where = [] } = condition
  const conditions = where.map((item) => JSON.stringify(canonical(item))).sort()
  const key = JSON.stringify({ event, metric, property, currency, withinDays })
  return conditions.length === 0 ? key : `${key.slice(0, -1)},"where":[${conditions.join(',')}]}`
}

const canonical = ({ property, operator, value, ignoreCase }: PropertyCondition) => ({
  property,
  operator,
  value,
  ignoreCase: ignoreCase === true ? true : undefined,
})
