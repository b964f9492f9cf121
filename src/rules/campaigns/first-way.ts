import type { Step } from './steps.ts'

/** Returns the steps in the order of a contact that takes the first part of each split. */
export const takeFirstParts = (steps: readonly Step[]): Step[] => steps.map(takeFirst)

function takeFirst(step: Step): Step {
  switch (step.type) {
    case 'split':
      return {
        ...step,
        parts: step.parts.slice(0, 1).map((part) => ({ percent: 100, steps: takeFirstParts(part.steps) })),
      }
    case 'branch':
    case 'wait_for':
      return { ...step, steps: takeFirstParts(step.steps), otherwise: takeFirstParts(step.otherwise) }
    default:
      return step
  }
}
