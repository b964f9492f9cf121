import type { CampaignTrigger, ListedCampaign } from '../../../campaigns/campaign.ts'
import type { Step } from '../../../rules/campaigns/steps.ts'
import { mapLists } from '../../../rules/campaigns/walk-steps.ts'
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
  const hidden = step.type === 'branch' ? { ...step, rule: hideValues(step.rule) } : step
  return mapLists(hidden, hideInSteps)
}
