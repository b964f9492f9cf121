import type { Fault } from '../faults.ts'
import { type RuleContext, readRule } from '../segments/reading/read-rule.ts'
import type { Rule } from '../segments/rule.ts'

/**
 * Returns the faults of a branch rule that was read: segments that the business does not have. `path`: path of the
 * rule.
 */
export function checkBranch(rule: Rule, path: string, rules: RuleContext): Fault[] {
  const read = readRule(rule, rules, path)
  return 'faults' in read ? read.faults : []
}
