import type { EngineDeps } from './engine-deps.ts'
import { endEnrolments } from './claim/store-moves.ts'
import { inTransaction } from '../../stores/transaction.ts'

/** Number of contacts whose enrolments end in one transaction. */
const SET_SIZE = 500

/** Ends a set of the active enrolments in archived campaigns. Returns true while there may be more. */
export async function endArchived({ sql, now }: EngineDeps): Promise<boolean> {
  return await inTransaction(sql, async (tx) => {
    const [campaign] = await tx<{ businessId: string; campaignId: string }[]>`
      select business_id as "businessId", id as "campaignId" from campaigns where ending limit 1 for update skip locked`
    if (campaign === undefined) return false
    const { businessId, campaignId } = campaign
    // Locked contacts come with the next set. The contact is locked first, as in every save.
    const enrolments = await tx<{ enrolmentId: string; contactId: string; isUnderWay: boolean }[]>`
      with active as materialized (
        select e.id, e.contact_id from enrolments e
        where e.business_id = ${businessId} and e.campaign_id = ${campaignId} and e.state = 'active'
        limit ${SET_SIZE}
      )
      select a.id as "enrolmentId", c.id as "contactId", exists (
        select from due_steps d where d.business_id = ${businessId} and d.enrolment_id = a.id and d.message_id is not null
      ) as "isUnderWay"
      from active a join contacts c on c.business_id = ${businessId} and c.id = a.contact_id and c.merged_into is null
      order by c.id for no key update of c skip locked`
    await endEnrolments(
      tx,
      enrolments.map((one) => ({ ...one, businessId, state: 'stopped' })),
      now(),
    )
    const [{ isLeft }] = await tx<[{ isLeft: boolean }]>`
      select exists (
        select from enrolments where business_id = ${businessId} and campaign_id = ${campaignId} and state = 'active'
      ) as "isLeft"`
    if (!isLeft) await tx`update campaigns set ending = false where business_id = ${businessId} and id = ${campaignId}`
    return true
  })
}
