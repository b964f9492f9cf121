import type { Fault } from '../faults.ts'
import { type RuleContext, readRule } from '../segments/reading/read-rule.ts'
import type { BranchStep } from './steps.ts'

/**
 * Returns the faults of a branch rule that was read: segments that the business does not have. `path`: path of the
 * step.
 */
export function checkBranch({ rule }: BranchStep, path: string, rules: RuleContext): Fault[] {
  const read = readRule(rule, rules, `${path}.rule`)
  return 'faults' in read ? read.faults : []
}
