import { type Step, type SplitPart } from '../../../rules/campaigns/steps.ts'
import { hideValues } from '../segments/hide-values.ts'

/** The steps without the texts in their rules that can be a person's, as the rule of a segment is shown without them. */
export const hideInSteps = (steps: readonly Step[]): Step[] => steps.map(hideInStep)

function hideInStep(step: Step): Step {
  switch (step.type) {
    case 'branch':
      return { ...step, rule: hideValues(step.rule), ...innerOf(step) }
    case 'wait_for':
      return { ...step, ...innerOf(step) }
    case 'split':
      return {
        ...step,
        parts: step.parts.map((part): SplitPart => ({ ...part, steps: hideInSteps(part.steps) })),
      }
    default:
      return step
  }
}

const innerOf = ({ steps, otherwise }: { steps: Step[]; otherwise: Step[] }) => ({
  steps: hideInSteps(steps),
  otherwise: hideInSteps(otherwise),
})
