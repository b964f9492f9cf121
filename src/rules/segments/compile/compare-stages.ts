import { STAGES } from '../../events/journey-stage.ts'
import type { RuleValue, StageOperator } from '../rule.ts'

/** Returns a test of whether a stage (an index into STAGES) satisfies an operator. */
export function compileStageTest(operator: StageOperator, value: RuleValue | undefined): (stage: number) => boolean {
  const indexes = stagesOf(value)
  const [first = 0] = indexes
  switch (operator) {
    case 'equals':
      return (stage) => stage === first
    case 'not_equals':
      return (stage) => stage !== first
    case 'in':
      return (stage) => indexes.includes(stage)
    case 'at_least':
      return (stage) => stage >= first
    case 'at_most':
      return (stage) => stage <= first
  }
}

/** Returns the indexes of the stages that an operator compares with. */
export function stagesOf(value: RuleValue | undefined): number[] {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value]
  return names.map(indexOf)
}

function indexOf(name: unknown): number {
  const index = STAGES.findIndex((stage) => stage === name)
  if (index === -1) throw new Error('the rule was not checked: a stage does not exist')
  return index
}
