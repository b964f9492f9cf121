import { STAGES } from '../../events/journey-stage.ts'
import type { RuleValue, StageOperator } from '../rule.ts'

/** Returns a test of whether a stage (an index into STAGES) satisfies an operator. */
export function compileStageTest(operator: StageOperator, value: RuleValue | undefined): (stage: number) => boolean {
  const indexes = stagesOf(value)
  const [first = 0] = indexes
  const tests: Record<StageOperator, (stage: number) => boolean> = {
    equals: (stage) => stage === first,
    not_equals: (stage) => stage !== first,
    in: (stage) => indexes.includes(stage),
    at_least: (stage) => stage >= first,
    at_most: (stage) => stage <= first,
  }
  return tests[operator]
}

/** Returns the indexes of the stages that an operator compares with. */
function stagesOf(value: RuleValue | undefined): number[] {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value]
  return names.map(indexOf)
}

function indexOf(name: unknown): number {
  const index = STAGES.findIndex((stage) => stage === name)
  if (index === -1) throw new Error('the rule was not checked: a stage does not exist')
  return index
}
