import type { Change } from '../audit/audit.ts'
import type { Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { type CreateOutcome, MAX_NAME, insertCampaign } from './create-campaign.ts'
import { readCampaign } from './list-campaigns.ts'

/** Creates a draft with the present version of another campaign, whatever its status. Its steps keep their ids. */
export async function duplicateCampaign(
  sql: Sql,
  change: Change,
  campaignId: string,
): Promise<CreateOutcome | { kind: 'not_found' }> {
  return await inTransaction(sql, async (tx) => {
    const original = await readCampaign(tx, change.businessId, campaignId)
    if (original === null) return { kind: 'not_found' }
    const { name, trigger, canEnterAgain, enrolPer, whileActive, goal, ...defined } = original
    const { steps, caps, holdOut, tracking, quietHours, topic, senders } = defined
    const own = {
      ...(quietHours !== undefined && { quietHours }),
      ...(topic !== undefined && { topic }),
      ...(senders !== undefined && { senders }),
    }
    const definition = { steps, caps, holdOut, tracking, ...own }
    const { event: goalEvent = null, ...goalConditions } = goal ?? {}
    const entering = { canEnterAgain, enrolPer, whileActive }
    const copy = { name: nameCopy(name), trigger, ...entering, goalEvent, goalConditions, definition }
    const entry = { action: 'campaign.duplicate', details: { original: campaignId } }
    return await insertCampaign(tx, change, copy, entry)
  })
}

const SUFFIX = ' (copy)'
const HALF_PAIR = /[\uD800-\uDBFF]$/

const nameCopy = (name: string): string => name.slice(0, MAX_NAME - SUFFIX.length).replace(HALF_PAIR, '') + SUFFIX
