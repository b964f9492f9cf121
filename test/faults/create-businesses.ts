/** The businesses of a test, each with a key, two published campaigns, and segments. */
import { insertBusiness } from '../../src/businesses/businesses.ts'
import { insertKey } from '../../src/businesses/keys.ts'
import { draftCampaign, publishDraft } from '../support/campaigns.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import { createSegments } from './create-segments.ts'

export interface Business {
  businessId: string
  secretKey: string
  campaigns: Campaign[]
}

export interface Campaign {
  businessId: string
  campaignId: string
  trigger: string
  /** Prefix of the marks of events that trigger it. Default: any mark. */
  mark?: string
  goal: string
  canEnterAgain: boolean
  /** Whether its enrolments end as finished. */
  hasSteps?: true
}

export const UNLIMITED = 100_000_000

export async function createFaultsBusiness(sql: Sql): Promise<Business> {
  const businessId = await insertBusiness(sql, { name: 'Faults', rateLimit: UNLIMITED })
  const { key: secretKey } = await insertKey(sql, businessId, 'secret')
  await createSegments(sql, businessId)
  const campaigns = [
    await publish(sql, { businessId, trigger: 'lesson_done', goal: 'course_bought', canEnterAgain: false }),
    await publish(sql, { businessId, trigger: 'add_to_cart', goal: 'purchase', canEnterAgain: true }),
  ]
  return { businessId, secretKey, campaigns }
}

async function publish(sql: Sql, campaign: Omit<Campaign, 'campaignId'>): Promise<Campaign> {
  const { businessId, trigger: triggerEvent, goal: goalEvent, canEnterAgain } = campaign
  const campaignId = await draftCampaign(sql, businessId, {
    name: triggerEvent,
    trigger: { event: triggerEvent },
    canEnterAgain,
    goalEvent,
  })
  await publishDraft(sql, businessId, campaignId)
  return { ...campaign, campaignId }
}
