import { conditionsOf } from '../rules/segments/walk-conditions.ts'
import type { Rule } from '../rules/segments/rule.ts'

/** Per business. */
export const MAX_SEGMENTS = 1000
/** Per business, in the rules as they are written. */
export const MAX_CONDITIONS = 10_000

/** Characters. */
export const MAX_NAME = 256
export const MAX_DESCRIPTION = 2000

export function countConditions(rules: Iterable<Rule>): number {
  let total = 0
  for (const rule of rules) total += conditionsOf(rule).length
  return total
}
