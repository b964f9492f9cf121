/** A deliberate action in a page, sent without a key (decisions, "Callers without a secret key"). */
import type { Deciding, TimelineFact, VisitorEvent } from '../changes.ts'
import type { BrowserFact } from '../events/facts.ts'
import type { BrowserDecision, BrowserItem } from '../item.ts'
import { withoutOrder } from './join-history.ts'
import { MAX_CONTACTS_PER_VISITOR, holderAt, isPastIn } from './link-visitor.ts'
import { recordEvent, rememberKey } from '../events/record-event.ts'
import { contactOf, scopedKey, waitsForKey } from '../state.ts'
import { visitorOf } from './visitor-links.ts'

/**
 * It belongs to the contact whose the browser was when it happened; while nobody has identified it, and while the link waits,
 * it stays with the browser. What arrives after another person was identified is past, and so is what happened before the
 * first one was: it starts nothing.
 */
export function decideBrowserEvent(deciding: Deciding, { businessId, receivedAt, fact }: BrowserItem): BrowserDecision {
  const { state } = deciding
  const visitor = visitorOf(state, businessId, fact.visitorId)
  // The person who used it then was erased, with the events that the browser had not sent yet.
  const isForgotten = visitor.erasedAt.has(fact.occurredAt)
  const isUnowned = isForgotten || visitor.crowded
  const holder = isUnowned ? undefined : holderAt(visitor, fact.occurredAt)
  const contact = holder?.contactId ? contactOf(state, holder.contactId) : null
  const contactId = contact?.id ?? null
  const key = repeatKey(fact)
  const deduped = key !== null && state.keys.has(scopedKey(businessId, key))
  const warnings = [...fact.warnings]
  if (!deduped && !isUnowned) {
    if (key !== null) rememberKey(deciding, { businessId, key, contactId, occurredAt: fact.occurredAt })
    noteSighting(deciding, businessId, fact)
    const event = { businessId, receivedAt, source: 'browser', fact: timelineFact(fact) } as const
    if (holder && contact) {
      const counted = waitsForKey(state, contact) ? { ...event, fact: withoutOrder(event.fact) } : event
      warnings.push(...recordEvent(deciding, contact, counted, isPastIn(visitor, holder, fact.occurredAt)))
    } else keepForVisitor(deciding, fact.visitorId, { eventId: deciding.newId(), ...event })
  }
  if (visitor.crowded && !deduped) warnings.push(NOT_KEPT)
  return { contactId, deduped, warnings }
}

const NOT_KEPT = `the event was not kept: over ${MAX_CONTACTS_PER_VISITOR} contacts were identified with its visitorId`

/** Under which a page's event is known again; no caller can send such a text as an idempotency key. Null: it has no id. */
export function repeatKey({ visitorId, messageId }: Pick<BrowserFact, 'visitorId' | 'messageId'>): string | null {
  return messageId === null ? null : `browser\0${visitorId}\0${messageId}`
}

function keepForVisitor({ changes }: Deciding, visitorId: string, event: VisitorEvent): void {
  const key = scopedKey(event.businessId, visitorId)
  const kept = changes.visitorEvents.get(key)
  if (kept) kept.push(event)
  else changes.visitorEvents.set(key, [event])
}

function noteSighting({ changes }: Deciding, businessId: string, fact: BrowserFact): void {
  const { visitorId, occurredAt: seenAt, first: firstTouch, latest: latestTouch } = fact
  changes.sightings.push({ businessId, visitorId, seenAt, firstTouch, latestTouch })
}

function timelineFact({ event, occurredAt, meaning, properties, visitorId }: BrowserFact): TimelineFact {
  return { event, occurredAt, meaning, properties, visitorId, value: null, idempotencyKey: null }
}
