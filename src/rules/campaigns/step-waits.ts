/** The steps at which enrolments wait, and what they wait for there. */
import {
  STEPS,
  STEP_TYPES,
  type Fields,
  type Flat,
  type NamedField,
  type Rows,
  type Step,
  type StepType,
  fieldsOf,
} from './steps.ts'
import { type WithoutLists, isListKind } from './walk-steps.ts'

type WaitType = { [Type in StepType]: Rows[Type] extends { isWait: true } ? Type : never }[StepType]
type WaitOf<Type extends WaitType> = Flat<{ type: Type } & Fields<WithoutLists<Rows[Type]['fields']>>>
/** What an enrolment at a step waits for: the fields of the step, without the steps inside it. */
export type StepWait = { [Type in WaitType]: WaitOf<Type> }[WaitType]
export const WAIT_TYPES = STEP_TYPES.filter((type): type is WaitType => 'isWait' in STEPS[type])

export const waitFieldsOf = (type: WaitType): NamedField[] => fieldsOf(type).filter(([, { kind }]) => !isListKind(kind))

/** The types that end at a local time: another zone changes when. */
export const LOCAL_WAIT_TYPES = WAIT_TYPES.filter((type) => fieldsOf(type).some(([, { kind }]) => kind === 'time'))

export type WaitStep = Extract<Step, { type: WaitType }>
export const isWait = (step: Step): step is WaitStep => 'isWait' in STEPS[step.type]

export function waitAt(step: WaitStep): StepWait {
  const values: Record<string, unknown> = step
  const shown = waitFieldsOf(step.type).filter(([name]) => values[name] !== undefined)
  return { type: step.type, ...Object.fromEntries(shown.map(([name]) => [name, values[name]])) } as StepWait
}
