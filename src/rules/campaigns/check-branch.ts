import type { Fault } from '../events/fault.ts'
import { isWindowed } from '../segments/condition-kinds.ts'
import { type RuleContext, readRule } from '../segments/read-rule.ts'
import type { Rule } from '../segments/rule.ts'
import type { BranchStep } from './steps.ts'

/**
 * What is wrong with the rule of a branch that was read: it names a segment that the business does not have, or counts or sums up the
 * timeline, which is kept up for the rules of segments only. `path`: of the step.
 */
export function checkBranch({ rule }: BranchStep, path: string, rules: RuleContext): Fault[] {
  const at = `${path}.rule`
  const read = readRule(rule, rules, at)
  if ('faults' in read) return read.faults
  const reason = 'counts or sums up events of the timeline: put this into a segment, and name the segment'
  return readsTimeline(rule) ? [{ path: at, message: `${at} ${reason}` }] : []
}

function readsTimeline(rule: Rule): boolean {
  if ('all' in rule) return rule.all.some(readsTimeline)
  if ('any' in rule) return rule.any.some(readsTimeline)
  return 'not' in rule ? readsTimeline(rule.not) : isWindowed(rule)
}
