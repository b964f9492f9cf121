import { type Fault, moveFault } from '../faults.ts'
import type { RuleContext } from '../segments/reading/read-rule.ts'
import { type Faults, addFaults, fault } from '../segments/reading/reading.ts'
import { traitFaults } from '../identity/decide-edit.ts'
import { checkBranch } from './check-branch.ts'
import type { Definition } from './definition.ts'
import { type Step, listsIn } from './steps.ts'

export interface CheckContext {
  /** Null: the campaign has no goal. */
  goalEvent: string | null
  /** Definitions that the rules of branches may read. */
  rules: RuleContext
}

/**
 * Returns the faults for which publishing refuses a definition that was read: unreachable steps, a wait for the goal,
 * and faults of branch rules. At most 20.
 */
export function checkDefinition({ steps }: Pick<Definition, 'steps'>, context: CheckContext): Fault[] {
  const found: Faults = { faults: [] }
  checkList(found, steps, 'steps', context)
  return found.faults
}

function checkList(found: Faults, steps: readonly Step[], path: string, context: CheckContext): void {
  const last = steps.findIndex(alwaysEnds)
  if (last >= 0 && last < steps.length - 1)
    fault(found, `${path}[${last + 1}]`, 'unreachable', { step: `${path}[${last}]` })
  for (const [index, step] of steps.entries()) checkStep(found, step, `${path}[${index}]`, context)
}

function checkStep(found: Faults, step: Step, path: string, context: CheckContext): void {
  if (step.type === 'wait_for' && step.event === context.goalEvent) fault(found, `${path}.event`, 'not_the_goal')
  if (step.type === 'branch') addFaults(found, checkBranch(step, path, context.rules))
  if (step.type === 'update')
    addFaults(
      found,
      traitFaults(context.rules.fields, step.traits).map((one) => moveFault(one, `${path}.${one.path}`)),
    )
  for (const list of listsIn(step)) checkList(found, list.steps, `${path}.${list.path}`, context)
}

/** Returns whether every way through a step ends at an exit. */
function alwaysEnds(step: Step): boolean {
  if (step.type === 'exit') return true
  const lists = listsIn(step)
  return lists.length > 0 && lists.every(({ steps }) => steps.some(alwaysEnds))
}
