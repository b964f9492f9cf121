import type { Step } from './steps.ts'
import { mapLists } from './walk-steps.ts'

/** Returns the steps in the order of a contact that takes the first part of each split. */
export const takeFirstParts = (steps: readonly Step[]): Step[] => steps.map(takeFirst)

function takeFirst(step: Step): Step {
  if (step.type !== 'split') return mapLists(step, takeFirstParts)
  const parts = step.parts.slice(0, 1).map((part) => ({ ...part, percent: 100 }))
  return mapLists({ ...step, parts }, takeFirstParts)
}
