import { type Fault, moveFault } from '../faults.ts'
import type { RuleContext } from '../segments/reading/read-rule.ts'
import { type Faults, addFaults, fault } from '../segments/reading/reading.ts'
import { traitFaults } from '../identity/decide-edit.ts'
import { checkBranch } from './check-branch.ts'
import type { Definition } from './definition.ts'
import { type Goal, hasWhere } from './event-condition.ts'
import { type FieldKind, type FieldValues, type Step, type WaitForStep, fieldsOf } from './steps.ts'
import { listsIn } from './walk-steps.ts'

export interface CheckContext {
  /** Null: the campaign has no goal. */
  goal: Goal | null
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

type Check<Value> = (found: Faults, value: Value, path: string, context: CheckContext) => void

/** What is checked of each field. The lists of steps are checked by `checkList`. */
const CHECKS: { [Kind in FieldKind]: Check<FieldValues[Kind]> | null } = {
  channel: null,
  template: null,
  messageKind: null,
  topic: null,
  // With the database: src/campaigns/check-senders.ts.
  sender: null,
  duration: null,
  time: null,
  weekdays: null,
  // Compared with the goal by `checkStep`: both may have conditions.
  event: null,
  where: null,
  sameKey: null,
  rule: (found, rule, path, { rules }) => addFaults(found, checkBranch(rule, path, rules)),
  steps: null,
  parts: null,
  tags: null,
  traits: (found, traits, path, { rules }) => {
    const faults = traitFaults(rules.fields, traits)
    addFaults(
      found,
      faults.map((one) => moveFault(one, one.path.replace(/^traits/, path))),
    )
  },
}

const checkField = <Kind extends FieldKind>(
  found: Faults,
  { path, context }: { path: string; context: CheckContext },
  kind: Kind,
  value: FieldValues[Kind],
) => CHECKS[kind]?.(found, value, path, context)

function checkStep(found: Faults, step: Step, path: string, context: CheckContext): void {
  const values: Record<string, unknown> = step
  if (step.type === 'wait_for') checkAwaited(found, step, path, context)
  for (const [name, { kind }] of fieldsOf(step.type)) {
    const value = values[name] as FieldValues[FieldKind] | undefined
    if (value !== undefined) checkField(found, { path: `${path}.${name}`, context }, kind, value)
  }
  for (const list of listsIn(step)) checkList(found, list.steps, `${path}.${list.path}`, context)
}

/** An event that may be both needs conditions on either side. */
function checkAwaited(found: Faults, step: WaitForStep, path: string, { goal }: CheckContext): void {
  if (goal === null || step.event !== goal.event || (hasWhere(step) && hasWhere(goal))) return
  fault(found, `${path}.event`, 'not_the_goal')
}

/** Returns whether every way through a step ends at an exit. */
function alwaysEnds(step: Step): boolean {
  if (step.type === 'exit') return true
  const lists = listsIn(step)
  return lists.length > 0 && lists.every(({ steps }) => steps.some(alwaysEnds))
}
