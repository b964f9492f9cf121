/** A deliberate action on a page, sent without a key (decisions, "Callers without a secret key"). */
import type { DecisionContext } from '../changes.ts'
import type { TimelineFact, VisitorEvent } from '../events/recorded-event.ts'
import type { BrowserFact } from '../events/facts.ts'
import type { BrowserDecision, BrowserRequest, Item } from '../item.ts'
import { withoutOrder } from './join-history.ts'
import { MAX_CONTACTS_PER_VISITOR, holderAt, isPastIn } from './link-visitor.ts'
import { recordEvent, rememberKey } from '../events/record-event.ts'
import { contactOf, scopedKey, waitsForKey } from '../state.ts'
import { visitorOf } from './visitor-links.ts'

/**
 * Decides an event of a browser. The event belongs to the contact that the browser had at that time. While the browser
 * has no contact, or its link waits, the event is stored with the browser. An event is in the past if it arrives after
 * another person was identified, or if it happened before the first identification. It then starts no campaign.
 */
export function decideBrowserEvent(
  context: DecisionContext,
  { businessId, receivedAt, fact }: Item<BrowserRequest>,
): BrowserDecision {
  const { state } = context
  const visitor = visitorOf(state, businessId, fact.visitorId)
  // The person who used the browser at that time has been erased. This also covers events that the browser had not sent
  // yet.
  const isForgotten = visitor.erasedAt.has(fact.occurredAt)
  const isUnowned = isForgotten || visitor.crowded
  const holder = isUnowned ? undefined : holderAt(visitor, fact.occurredAt)
  const contact = holder?.contactId ? contactOf(state, holder.contactId) : null
  const contactId = contact?.id ?? null
  const key = repeatKey(fact)
  const deduped = key !== null && state.keys.has(businessId, key)
  const warnings = [...fact.warnings]
  if (!deduped && !isUnowned) {
    const { event: name, occurredAt } = fact
    if (key !== null) rememberKey(context, { businessId, key, event: name, contactId, occurredAt })
    noteSighting(context, businessId, fact)
    const event = { businessId, receivedAt, source: 'browser', fact: timelineFact(fact) } as const
    if (holder && contact) {
      const counted = waitsForKey(state, contact) ? { ...event, fact: withoutOrder(event.fact) } : event
      warnings.push(...recordEvent(context, contact, counted, isPastIn(visitor, holder, fact.occurredAt)))
    } else storeForVisitor(context, fact.visitorId, { eventId: context.newId('event'), ...event })
  }
  if (visitor.crowded && !deduped) warnings.push(NOT_STORED)
  return { contactId, deduped, warnings }
}

const NOT_STORED = `the event was not stored: over ${MAX_CONTACTS_PER_VISITOR} contacts were identified with its visitorId`

/**
 * Returns the key of a page's event, which identifies repeats; null when the event has no id. Callers cannot send such
 * a text as an idempotency key.
 */
export function repeatKey({ visitorId, messageId }: Pick<BrowserFact, 'visitorId' | 'messageId'>): string | null {
  return messageId === null ? null : `browser\0${visitorId}\0${messageId}`
}

function storeForVisitor({ changes }: DecisionContext, visitorId: string, event: VisitorEvent): void {
  const key = scopedKey(event.businessId, visitorId)
  const storedEvents = changes.visitorEvents.get(key)
  if (storedEvents) storedEvents.push(event)
  else changes.visitorEvents.set(key, [event])
}

function noteSighting({ changes }: DecisionContext, businessId: string, fact: BrowserFact): void {
  const { visitorId, occurredAt: seenAt, first: firstTouch, latest: latestTouch } = fact
  changes.sightings.push({ businessId, visitorId, seenAt, firstTouch, latestTouch })
}

function timelineFact({ event, occurredAt, meaning, properties, visitorId }: BrowserFact): TimelineFact {
  return { event, occurredAt, meaning, properties, visitorId, value: null, idempotencyKey: null }
}
