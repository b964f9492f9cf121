import type { Fault } from '../faults.ts'
import { type RuleContext, readRule } from '../segments/read-rule.ts'
import type { BranchStep } from './steps.ts'

/** What is wrong with the rule of a branch that was read: it names a segment that the business does not have. `path`: of the step. */
export function checkBranch({ rule }: BranchStep, path: string, rules: RuleContext): Fault[] {
  const read = readRule(rule, rules, `${path}.rule`)
  return 'faults' in read ? read.faults : []
}
