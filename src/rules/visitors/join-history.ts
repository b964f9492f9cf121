import { type Deciding, type TimelineFact, type VisitorChange, deltaOf } from '../changes.ts'
import { meaningOfName } from '../events/interpret.ts'
import { countEvents } from '../events/record-event.ts'
import { type ContactState, type VisitorState, scopedKey, waitsForKey } from '../state.ts'

/**
 * Gives the contact what the visitor did before it was identified, with the original times: these events count, move the
 * stage and reach goals as past events do, and start no campaign. Postgres moves the stored events.
 */
export function joinHistory(
  deciding: Deciding,
  contact: ContactState,
  visitor: VisitorState,
  change: VisitorChange,
  at: number,
): void {
  const { state, changes } = deciding
  const hasOrders = !waitsForKey(state, contact)
  const kept = [...visitor.history.values()].reduce((sum, { count }) => sum + count, 0)
  if (kept > 0) Object.assign(change, { joinedContactId: contact.id, joinedCount: kept, joinedOrders: hasOrders })
  const key = scopedKey(visitor.businessId, visitor.visitorId)
  const fresh = changes.visitorEvents.get(key) ?? []
  changes.visitorEvents.delete(key)
  for (const { fact, receivedAt } of fresh) keepIn(visitor.history, fact.event, fact.occurredAt, receivedAt)
  for (const [event, { receivedAt, ...counted }] of visitor.history) {
    countEvents(deciding, contact, event, counted, { at, recordedAt: receivedAt })
    if (hasOrders && meaningOfName(event).order) deltaOf(changes, contact.id).orders += counted.count
  }
  visitor.history.clear()
  changes.events.push(
    ...fresh.map((event) => ({
      ...event,
      contactId: contact.id,
      fact: hasOrders ? event.fact : withoutOrder(event.fact),
    })),
  )
}

function keepIn(history: VisitorState['history'], event: string, occurredAt: number, receivedAt: number): void {
  const kept = history.get(event)
  history.set(event, {
    firstAt: Math.min(occurredAt, kept?.firstAt ?? Infinity),
    lastAt: Math.max(occurredAt, kept?.lastAt ?? -Infinity),
    count: 1 + (kept?.count ?? 0),
    receivedAt: Math.max(receivedAt, kept?.receivedAt ?? -Infinity),
  })
}

/** Of a contact that waits for keyed calls, a page counts no order. */
export const withoutOrder = (fact: TimelineFact): TimelineFact =>
  fact.meaning.order ? { ...fact, meaning: { ...fact.meaning, order: false } } : fact
