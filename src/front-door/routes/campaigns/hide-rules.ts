import type { ListedCampaign } from '../../../campaigns/campaign.ts'
import type { Step } from '../../../rules/campaigns/steps.ts'
import { mapLists } from '../../../rules/campaigns/walk-steps.ts'
import type { PropertyCondition } from '../../../rules/segments/rule.ts'
import { hideText, hideValues } from '../segments/hide-values.ts'

/** Removes the texts from the conditions of the trigger and the goal. */
export const hideInTrigger = <Listed extends ListedCampaign>(campaign: Listed): Listed => ({
  ...campaign,
  trigger: withoutTexts(campaign.trigger),
  goal: campaign.goal && withoutTexts(campaign.goal),
})

const withoutTexts = <Part extends object>(part: Part & { where?: PropertyCondition[] }): Part =>
  part.where === undefined ? part : { ...part, where: part.where.map(hideText) }

/** Removes the texts that may be about a person from the rules of the steps, as in the rule of a segment. */
export const hideInSteps = (steps: readonly Step[]): Step[] => steps.map(hideInStep)

function hideInStep(step: Step): Step {
  const hidden = step.type === 'branch' ? { ...step, rule: hideValues(step.rule) } : step
  return mapLists(step.type === 'wait_for' ? withoutTexts(step) : hidden, hideInSteps)
}
