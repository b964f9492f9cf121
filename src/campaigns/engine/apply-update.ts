/**
 * Sends the change of an update step to the live partition of its business, like every change of a contact. The save
 * that applies it lets the enrolment continue, exactly once. Until then the step becomes due again after a while, in
 * case its entry was lost.
 */
import { backoffMs } from '../../async/backoff.ts'
import type { UpdateStep } from '../../rules/campaigns/steps.ts'
import type { EngineDeps } from './engine-deps.ts'

export interface ClaimedUpdate {
  businessId: string
  campaignId: string
  contactId: string
  enrolmentId: string
  step: UpdateStep
}

/** Milliseconds before another entry for the same step, when the previous one has not been answered. */
const AGAIN = { firstMs: 60_000, maxMs: 3_600_000 }
/** Milliseconds before another attempt when the stream accepts nothing. */
const REFUSED_MS = 2000
/** The item is kept as a dead letter. Its replay applies the step, too. */
const FAILED_MS = 86_400_000

/** @param attempts number of entries for this step, including the next one */
export const reappliedAt = (now: number, attempts: number): number => now + Math.round(backoffMs(attempts, AGAIN))

/** Never rejects. */
export async function applyUpdate(deps: EngineDeps, claimed: ClaimedUpdate): Promise<void> {
  const { businessId, campaignId: campaign, enrolmentId: enrolment, contactId, step } = claimed
  const { addTags, removeTags, traits } = step
  try {
    const submitted = await deps.submit({
      kind: 'edit',
      businessId,
      receivedAt: deps.now(),
      requestId: `${enrolment} ${step.id}`,
      contactId,
      fact: { profile: {}, traits, addTags, removeTags, warnings: [] },
      step: { enrolmentId: enrolment, stepId: step.id },
    })
    if (submitted.kind === 'unavailable') await moveBack(deps, claimed, REFUSED_MS)
    if (submitted.kind !== 'answered' || !('failed' in submitted.answer)) return
    deps.log.error(
      { campaign, enrolment },
      'an update of a campaign could not be applied, and is kept as a dead letter',
    )
    await moveBack(deps, claimed, FAILED_MS)
  } catch (error) {
    deps.log.warn({ err: error, campaign, enrolment }, 'an update of a campaign could not be submitted')
  }
}

async function moveBack({ sql, now }: EngineDeps, { businessId, enrolmentId, step }: ClaimedUpdate, ms: number) {
  await sql`
    update due_steps set due_at = ${now() + ms}
    where business_id = ${businessId} and enrolment_id = ${enrolmentId} and step = ${step.id} and not settled and not held`
}
