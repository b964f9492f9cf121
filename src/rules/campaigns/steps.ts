/** The steps of a campaign as they are stored (campaigns, "A campaign"). `read-steps.ts` reads them from requests. */
import type { TraitValue } from '../events/facts.ts'
import type { MessageChannel } from '../messages/message-channel.ts'
import type { Rule } from '../segments/rule.ts'

/** In the order of the contract. */
export const STEP_TYPES = ['send', 'wait', 'wait_until', 'wait_for', 'branch', 'split', 'update', 'exit'] as const
export type StepType = (typeof STEP_TYPES)[number]

export type Step = SendStep | WaitStep | WaitUntilStep | WaitForStep | BranchStep | SplitStep | UpdateStep | ExitStep

interface AnyStep<Type extends StepType> {
  /** Unique in the campaign, over all lists of its steps. */
  id: string
  type: Type
}

export const MESSAGE_KINDS = ['marketing', 'transactional'] as const
/**
 * Transactional: a receipt or a password, for example. It needs no opt-in, and ignores caps, quiet hours and hold-out.
 */
export type MessageKind = (typeof MESSAGE_KINDS)[number]

export interface SendStep extends AnyStep<'send'> {
  channel: MessageChannel
  /** Id of the template. */
  template: string
  kind: MessageKind
}

export interface WaitStep extends AnyStep<'wait'> {
  /** An ISO 8601 duration. `readDuration` returns its milliseconds. */
  for: string
}

export interface WaitUntilStep extends AnyStep<'wait_until'> {
  /** `HH:MM`, local. */
  time: string
  /** 1 is Monday. Absent: every day. */
  weekdays?: number[]
}

export interface WaitForStep extends AnyStep<'wait_for'> {
  event: string
  /** An ISO 8601 duration. */
  timeout: string
  /** Steps after the event. */
  steps: Step[]
  /** Steps after the time-out. */
  otherwise: Step[]
}

export interface BranchStep extends AnyStep<'branch'> {
  /** As it was written: resolve it before testing it. */
  rule: Rule
  steps: Step[]
  otherwise: Step[]
}

export interface SplitStep extends AnyStep<'split'> {
  parts: SplitPart[]
}

export interface SplitPart {
  /** In steps of 0.01. The shares of a split add up to 100. */
  percent: number
  steps: Step[]
}

/** No tag is in both lists. Values that are not named stay unchanged. */
export interface UpdateStep extends AnyStep<'update'> {
  addTags: string[]
  removeTags: string[]
  /** Null clears a field. */
  traits: Record<string, TraitValue>
}

export type ExitStep = AnyStep<'exit'>

/** The lists of steps inside a step, each with its path from the step. */
export function listsIn(step: Step): { path: string; steps: Step[] }[] {
  switch (step.type) {
    case 'wait_for':
    case 'branch':
      return [
        { path: 'steps', steps: step.steps },
        { path: 'otherwise', steps: step.otherwise },
      ]
    case 'split':
      return step.parts.map(({ steps }, index) => ({ path: `parts[${index}].steps`, steps }))
    default:
      return []
  }
}

/** All steps with their paths, such as `steps[0].otherwise[1]`, from top to bottom. */
export function walkSteps(steps: readonly Step[], path = 'steps'): { step: Step; path: string }[] {
  return steps.flatMap((step, index) => {
    const at = `${path}[${index}]`
    return [{ step, path: at }, ...listsIn(step).flatMap((list) => walkSteps(list.steps, `${at}.${list.path}`))]
  })
}
