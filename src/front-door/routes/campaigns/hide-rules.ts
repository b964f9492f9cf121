import type { CampaignTrigger, ListedCampaign } from '../../../campaigns/campaign.ts'
import { type Step, type SplitPart } from '../../../rules/campaigns/steps.ts'
import { hideText, hideValues } from '../segments/hide-values.ts'

/** Removes the texts from the conditions of the trigger. */
export const hideInTrigger = <Listed extends ListedCampaign>(campaign: Listed): Listed => ({
  ...campaign,
  trigger: withoutTexts(campaign.trigger),
})

const withoutTexts = (trigger: CampaignTrigger): CampaignTrigger =>
  'where' in trigger && trigger.where !== undefined ? { ...trigger, where: trigger.where.map(hideText) } : trigger

/** Removes the texts that may be about a person from the rules of the steps, as in the rule of a segment. */
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
