import type { HeldBy } from './checked-send.ts'
import type { Step } from './steps.ts'
import { type StepWait, isWait, waitAt } from './step-waits.ts'

/** What an active enrolment waits for, in the terms of steps, quiet hours and caps. */
export type WaitsFor =
  | StepWait
  | HeldBy
  /** `attempts` so far. */
  | { type: 'retry'; attempts: number }
  /** The rule of its branch needs counts or sums, and the timeline does not have all earlier events yet. */
  | { type: 'timeline' }
  /** Its update waits to be applied, together with the live events of the business. */
  | { type: 'update' }
  /** The message is being handed to the provider. */
  | { type: 'sending' }
  /** It became due while the campaign was paused. */
  | { type: 'resume' }
  | { type: 'goal'; event: string }

export interface WaitingEnrolment {
  /** Null: the campaign had no steps. */
  step: Step | null
  goal: string | null
  heldBy: HeldBy | null
  /** Attempts at the message of the step. 0: there is no message. */
  attempts: number
  isSending: boolean
  /** True when it waits for the end of a pause. */
  isHeld: boolean
  /** True when the message of the step is settled, or its update applied. */
  isSettled: boolean
  /** True when its branch waits for the timeline. */
  isAsking: boolean
}

/** Null: it waits for nothing, and is moved on as soon as a worker is free. */
export function waitsFor({ step, goal, ...waiting }: WaitingEnrolment): WaitsFor | null {
  if (step === null) return goal === null ? null : { type: 'goal', event: goal }
  if (waiting.isHeld) return { type: 'resume' }
  if (isWait(step)) return waitAt(step)
  switch (step.type) {
    case 'branch':
      return waiting.isAsking ? { type: 'timeline' } : null
    case 'update':
      return waiting.isSettled ? null : { type: 'update' }
    case 'send':
      return waiting.isSettled ? null : waitOfMessage(waiting)
    case 'split':
    case 'exit':
      return null
  }
}

function waitOfMessage({ heldBy, attempts, isSending }: Omit<WaitingEnrolment, 'step' | 'goal'>): WaitsFor | null {
  if (isSending) return { type: 'sending' }
  return heldBy ?? (attempts > 0 ? { type: 'retry', attempts } : null)
}
