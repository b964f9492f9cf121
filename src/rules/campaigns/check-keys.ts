import { type Fault, faultOf } from '../faults.ts'
import type { Definition } from './definition.ts'
import type { EnrolPer } from './enrolment-key.ts'
import type { WhileActive } from './while-active.ts'
import type { Goal } from './event-condition.ts'
import { walkSteps } from './walk-steps.ts'

interface Keyed extends Pick<Definition, 'steps'> {
  enrolPer: EnrolPer
  whileActive: WhileActive
  goal: Goal | null
  /** Whether an event starts the campaign. */
  isByEvent: boolean
}

/** Returns the faults for which a campaign is neither created nor changed. */
export function checkKeys({ enrolPer, whileActive, goal, steps, isByEvent }: Keyed): Fault[] {
  const faults: Fault[] = []
  if (enrolPer !== 'contact' && !isByEvent) faults.push(faultOf('enrolPer', 'for_an_event'))
  if (whileActive !== 'ignore' && !isByEvent) faults.push(faultOf('whileActive', 'for_an_event'))
  if (enrolPer !== 'contact') return faults
  if (goal?.sameKey !== undefined) faults.push(faultOf('goal.sameKey', 'needs_a_key'))
  for (const { step, path } of walkSteps(steps))
    if (step.type === 'wait_for' && step.sameKey !== undefined) faults.push(faultOf(`${path}.sameKey`, 'needs_a_key'))
  return faults
}
