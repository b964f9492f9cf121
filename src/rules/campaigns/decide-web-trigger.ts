import type { DecisionContext } from '../changes.ts'
import { rememberKey } from '../events/record-event.ts'
import type { WebTriggerDecision, WebTriggerRequest, Item } from '../item.ts'
import { contactOf } from '../state.ts'
import { holderAt, isPastIn } from '../visitors/link-visitor.ts'
import { visitorOf } from '../visitors/visitor-links.ts'
import { startByWeb } from './enrolment.ts'
import { type FiredTrigger, firedKey } from './web-trigger-fact.ts'

/** Enrols the person who was known in the browser at that instant. A person who is identified later is not enrolled. */
export function decideWebTrigger(context: DecisionContext, item: Item<WebTriggerRequest>): WebTriggerDecision {
  return { contactId: null, warnings: item.fact.fired.flatMap((fired) => decideFired(context, item, fired)) }
}

/** @returns warnings */
function decideFired(
  context: DecisionContext,
  { businessId, receivedAt, fact }: Item<WebTriggerRequest>,
  fired: FiredTrigger,
): string[] {
  const { state } = context
  const { visitorId } = fact
  const { campaignId, name, occurredAt, page } = fired
  const key = firedKey(visitorId, fired)
  const visitor = visitorOf(state, businessId, visitorId)
  if (visitor.crowded || visitor.erasedAt.has(occurredAt) || state.keys.has(businessId, key)) return []
  const holder = holderAt(visitor, occurredAt)
  const contact = holder?.contactId ? contactOf(state, holder.contactId) : null
  if (!holder || !contact || holder.identifiedAt > occurredAt || isPastIn(visitor, holder, occurredAt)) return []
  const event = { name, properties: JSON.stringify(page), isKeyed: false }
  const before = contact.enrolments.length
  const warnings = startByWeb({ ...context, event }, contact, { campaignId, name, page, occurredAt, receivedAt })
  if (contact.enrolments.length > before)
    rememberKey(context, { businessId, key, event: name, contactId: contact.id, occurredAt })
  return warnings
}
