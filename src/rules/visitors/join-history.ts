import type { DecisionContext } from '../changes.ts'
import { recordAwaitedConditions } from '../campaigns/awaited-events.ts'
import { triggeringEvent } from '../campaigns/event-trigger.ts'
import { reachConditionalGoals } from '../campaigns/goals.ts'
import type { TimelineFact, VisitorEvent } from '../events/recorded-event.ts'
import type { VisitorChange } from './visitor-changes.ts'
import { meaningOfName } from '../events/interpret.ts'
import { countEvents, countOrders } from '../events/record-event.ts'
import { refreshForHistory } from '../segments/windows/refresh-windows.ts'
import { type ComparedEvent, type ContactState, type VisitorState, scopedKey, waitsForKey } from '../state.ts'

/**
 * Assigns the browser's events from the time without a contact to this contact. They keep their times. Like other past
 * events, they count, move the stage and reach goals, but start no campaign. The save moves the events that are in
 * Postgres.
 */
export function joinHistory(
  context: DecisionContext,
  contact: ContactState,
  visitor: VisitorState,
  change: VisitorChange,
  at: number,
): void {
  const { state, changes } = context
  const hasOrders = !waitsForKey(state, contact)
  const storedEvents = [...visitor.history.values()].reduce((sum, { count }) => sum + count, 0)
  if (storedEvents > 0)
    Object.assign(change, { joinedContactId: contact.id, joinedCount: storedEvents, joinedOrders: hasOrders })
  const key = scopedKey(visitor.businessId, visitor.visitorId)
  const fresh = changes.visitorEvents.get(key) ?? []
  changes.visitorEvents.delete(key)
  for (const { fact, receivedAt } of fresh) addToHistory(visitor.history, fact.event, fact.occurredAt, receivedAt)
  for (const [event, { receivedAt, ...counted }] of visitor.history) {
    countEvents(context, contact, event, counted, { at, recordedAt: receivedAt })
    refreshForHistory(context, contact, event)
    if (hasOrders && meaningOfName(event).order) countOrders(context, contact, counted.count)
  }
  const compared = [...(visitor.compared ?? []), ...fresh.map(comparedEvent)]
  for (const one of compared) meetConditions(context, contact, one, at)
  visitor.history.clear()
  delete visitor.compared
  changes.events.push(
    ...fresh.map((event) => ({
      ...event,
      contactId: contact.id,
      fact: hasOrders ? event.fact : withoutOrder(event.fact),
    })),
  )
}

const comparedEvent = ({ fact, source, receivedAt }: VisitorEvent): ComparedEvent => ({
  event: fact.event,
  seen: triggeringEvent(fact, source),
  occurredAt: fact.occurredAt,
  receivedAt,
})

/** The event counts for goals and steps with conditions. It was recorded when it was received. */
function meetConditions(context: DecisionContext, contact: ContactState, one: ComparedEvent, at: number): void {
  if (!context.state.businesses.get(contact.businessId)?.hasConditions) return
  reachConditionalGoals(context, contact, { ...one, at, recordedAt: one.receivedAt })
  recordAwaitedConditions(context, contact, one)
}

function addToHistory(history: VisitorState['history'], event: string, occurredAt: number, receivedAt: number): void {
  const storedEvents = history.get(event)
  history.set(event, {
    firstAt: Math.min(occurredAt, storedEvents?.firstAt ?? Infinity),
    lastAt: Math.max(occurredAt, storedEvents?.lastAt ?? -Infinity),
    count: 1 + (storedEvents?.count ?? 0),
    receivedAt: Math.max(receivedAt, storedEvents?.receivedAt ?? -Infinity),
  })
}

/** For a contact that waits for keyed calls, events from pages count no order. */
export const withoutOrder = (fact: TimelineFact): TimelineFact =>
  fact.meaning.order ? { ...fact, meaning: { ...fact.meaning, order: false } } : fact
