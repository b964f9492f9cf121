import type { Queryable } from '../stores/postgres.ts'
import type { Campaign } from './campaign.ts'
import { MAX_NAME, createCampaign } from './create-campaign.ts'
import { readCampaign } from './list-campaigns.ts'

export type DuplicateOutcome = { kind: 'duplicated'; campaign: Campaign } | { kind: 'too_many' } | { kind: 'not_found' }

/** Creates a draft with the present version of another campaign, whatever its status. Its steps keep their ids. */
export async function duplicateCampaign(
  tx: Queryable,
  businessId: string,
  campaignId: string,
): Promise<DuplicateOutcome> {
  const original = await readCampaign(tx, businessId, campaignId)
  if (original === null) return { kind: 'not_found' }
  const { name, trigger, canEnterAgain, goal, steps, caps, holdOut, tracking, quietHours } = original
  const campaign = await createCampaign(tx, businessId, {
    name: nameCopy(name),
    trigger,
    canEnterAgain,
    goalEvent: goal?.event ?? null,
    definition: { steps, caps, holdOut, tracking, ...(quietHours !== undefined && { quietHours }) },
  })
  return campaign === null ? { kind: 'too_many' } : { kind: 'duplicated', campaign }
}

const SUFFIX = ' (copy)'
const HALF_PAIR = /[\uD800-\uDBFF]$/

const nameCopy = (name: string): string => name.slice(0, MAX_NAME - SUFFIX.length).replace(HALF_PAIR, '') + SUFFIX
