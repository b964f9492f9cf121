import type { DecisionContext } from '../changes.ts'
import type { ContactState, EnrolmentState } from '../state.ts'
import { type Entry, stepFor } from './entry.ts'

/**
 * Passes a trigger event on to the active enrolments of its campaigns and keys (campaigns, "While active"). The save
 * finds out whether it is older than the one that templates read, and whether a message was claimed.
 */
export function followTriggers(
  { changes, event }: DecisionContext,
  contact: ContactState,
  entries: readonly Entry[],
  { occurredAt, receivedAt }: { occurredAt: number; receivedAt: number },
): void {
  if (!event) return
  for (const { campaign, key } of entries) {
    const { keyed } = campaign
    if (!keyed || keyed.whileActive === 'ignore') continue
    const isRestart = keyed.whileActive === 'restart'
    const active = contact.enrolments.find((one) => isActiveIn(one, campaign.id, key))
    if (!active || active.version === null) continue
    const begun = changes.firstSteps.get(active.id)
    if (begun) {
      if (occurredAt < (begun.eventAt ?? -Infinity)) continue
      Object.assign(begun, { event, eventAt: occurredAt, ...(isRestart && { beganAt: receivedAt }) })
      continue
    }
    const first = isRestart ? keyed.firstSteps.get(active.version) : undefined
    changes.followedTriggers.push({
      businessId: contact.businessId,
      contactId: contact.id,
      enrolmentId: active.id,
      event,
      occurredAt,
      receivedAt,
      restart: first ? stepFor(first, campaign, key) : null,
    })
  }
}

const isActiveIn = (enrolment: EnrolmentState, campaignId: string, key: string | null): boolean =>
  enrolment.state === 'active' && enrolment.campaignId === campaignId && enrolment.key === key
