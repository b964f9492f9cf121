/** Applies an event to its contact. */
import { type Changes, type DecisionContext, deltaOf } from '../changes.ts'
import type { RecordedEvent } from './recorded-event.ts'
import type { Statistic, ContactState } from '../state.ts'
import { recordAwaitedConditions, recordAwaitedEvent } from '../campaigns/awaited-events.ts'
import { startCampaigns } from '../campaigns/enrolment.ts'
import { triggeringEvent } from '../campaigns/event-trigger.ts'
import { reachConditionalGoals, reachGoal } from '../campaigns/goals.ts'
import { refreshForEvent } from '../segments/windows/refresh-windows.ts'
import { watchFact } from '../segments/membership/watch-item.ts'
import { stageOf } from './journey-stage.ts'
import { addStatistic } from './add-statistic.ts'
import { addAmounts } from './money.ts'
import { queueDeliveries } from './queue-deliveries.ts'

/**
 * Records an event. A past event, such as each event of a batch, starts no campaign and is not sent to destinations.
 * @returns warnings
 */
export function recordEvent(
  context: DecisionContext,
  contact: ContactState,
  { businessId, receivedAt, source, fact }: Omit<RecordedEvent, 'eventId' | 'contactId'>,
  isPast = source === 'batch',
): string[] {
  const { event, occurredAt, meaning } = fact
  const delta = deltaOf(context.changes, contact.id)
  if (meaning.order) countOrders(context, contact, 1)
  if (meaning.currency !== null && meaning.counted !== '0') {
    const facts = watchFact(context, contact, `revenue:${meaning.currency}`)
    for (const revenue of [delta.revenue, ...(facts ? [facts.revenue] : [])])
      revenue.set(meaning.currency, addAmounts(revenue.get(meaning.currency) ?? '0', meaning.counted))
  }
  countEvents(context, contact, event, { firstAt: occurredAt, lastAt: occurredAt, count: 1 }, { at: receivedAt })
  refreshForEvent(context, contact, event, { receivedAt, isBatch: source === 'batch' })
  const hasConditions = context.state.businesses.get(businessId)?.hasConditions ?? false
  const possible = hasConditions ? { event, seen: triggeringEvent(fact, source), occurredAt } : null
  if (possible) reachConditionalGoals(context, contact, { ...possible, at: receivedAt, recordedAt: Infinity })
  const warnings = isPast ? [] : startCampaigns(context, contact, { fact, source, receivedAt })
  // After the enrolments: as its first step, one may wait for the event that has started it.
  if (possible) recordAwaitedConditions(context, contact, possible)
  const recorded = { eventId: context.newId('event'), businessId, contactId: contact.id, receivedAt, source, fact }
  context.changes.events.push(recorded)
  if (!isPast) queueDeliveries(context, recorded)
  return warnings
}

/**
 * Applies the effects of events with one name that do not depend on their order: statistics, stage, goals.
 * `recordedAt`: time of receipt of the last event. Default: now.
 */
export function countEvents(
  context: DecisionContext,
  contact: ContactState,
  event: string,
  counted: Statistic,
  { at, recordedAt }: { at: number; recordedAt?: number },
): void {
  const delta = deltaOf(context.changes, contact.id)
  const facts = watchFact(context, contact, `event:${event}`)
  if (facts) addStatistic(facts.statistics, event, counted)
  addStatistic(delta.statistics, event, counted)
  moveStage(context, contact, stageOf(event) ?? 0)
  reachGoal(context, contact, { event, lastAt: counted.lastAt, at, recordedAt })
  // After the goal: when an event is both the goal and awaited, the goal counts.
  recordAwaitedEvent(context, contact, event, counted)
}

export function countOrders(context: DecisionContext, contact: ContactState, orders: number): void {
  const facts = watchFact(context, contact, 'orders')
  if (facts) facts.orderCount += orders
  deltaOf(context.changes, contact.id).orders += orders
}

/** A stage never decreases. */
function moveStage(context: DecisionContext, contact: ContactState, stage: number): void {
  const delta = deltaOf(context.changes, contact.id)
  if (stage <= Math.max(contact.stage, delta.stage)) return
  const facts = watchFact(context, contact, 'stage')
  if (facts) facts.stage = stage
  delta.stage = stage
}

/** Stores an idempotency key: a later event with this key is a repeat. */
export function rememberKey({ state, changes }: DecisionContext, key: Changes['newKeys'][number]): void {
  const { occurredAt, event } = key
  state.keys.set(key.businessId, key.key, { occurredAt, event, erasedAs: null })
  changes.newKeys.push(key)
}
