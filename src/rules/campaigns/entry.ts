import type { Campaign, FirstStep } from '../business-state.ts'
import { listensForOf } from './event-condition.ts'

/** A campaign that is triggered. `key`: null when it enrols once for each contact. */
export interface Entry {
  campaign: Campaign
  key: string | null
}

/** Returns the step as an enrolment with this key waits at it. */
export function stepFor(
  { id, listensFor, condition }: FirstStep,
  { keyed }: Pick<Campaign, 'keyed'>,
  key: string | null,
): FirstStep {
  return { id, listensFor: condition ? listensForOf(condition, { keyPath: keyed?.keyPath ?? null, key }) : listensFor }
}
