/** The events that steps of enrolments wait for. */
import type { Changes, DecisionContext } from '../changes.ts'
import type { ContactState } from '../state.ts'
import type { SeenEvent } from '../segments/compile/compile-where.ts'
import { fitOf, listenedFor } from './event-condition.ts'

/** Notes an event that a step of an enrolment may wait for. The save finds out which step does. */
export function recordAwaitedEvent(
  { state, changes }: DecisionContext,
  contact: ContactState,
  event: string,
  { firstAt, lastAt }: { firstAt: number; lastAt: number },
): void {
  if (!state.businesses.get(contact.businessId)?.awaited.has(event)) return
  if (hasSteps(contact)) note(changes, contact, event, firstAt === lastAt ? [firstAt] : [firstAt, lastAt])
}

/** As `recordAwaitedEvent`, for one event that may meet the conditions of steps. */
export function recordAwaitedConditions(
  { state, changes }: DecisionContext,
  contact: ContactState,
  { event, seen, occurredAt }: { event: string; seen: SeenEvent; occurredAt: number },
): void {
  const conditions = state.businesses.get(contact.businessId)?.awaitedConditions.get(event)
  if (!conditions || !hasSteps(contact)) return
  for (const condition of conditions) {
    const key = fitOf(condition, seen)
    if (key !== null) note(changes, contact, listenedFor(condition.identity, key), [occurredAt])
  }
}

const hasSteps = ({ enrolments }: ContactState): boolean =>
  enrolments.some(({ state, version }) => state === 'active' && version !== null)

function note(changes: Changes, { businessId, id: contactId }: ContactState, event: string, times: number[]): void {
  const name = `${contactId} ${event}`
  const known = changes.awaitedEvents.get(name)
  if (known) known.times.push(...times)
  else changes.awaitedEvents.set(name, { businessId, contactId, event, times })
}
