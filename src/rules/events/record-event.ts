/** What an event does to the contact that it is recorded for. */
import { type Changes, type Deciding, type RecordedEvent, deltaOf } from '../changes.ts'
import { type Statistic, type ContactState, scopedKey } from '../state.ts'
import { reachGoal, startCampaigns } from '../campaigns/enrolment.ts'
import { stageOf } from './journey-stage.ts'
import { addAmounts } from './money.ts'
import { queueDeliveries } from './queue-deliveries.ts'

/**
 * Records an event that arrives now. A past event, such as those of a batch, starts no campaign and is sent nowhere.
 * @returns warnings
 */
export function recordEvent(
  deciding: Deciding,
  contact: ContactState,
  { businessId, receivedAt, source, fact }: Omit<RecordedEvent, 'eventId' | 'contactId'>,
  isPast = source === 'batch',
): string[] {
  const { event, occurredAt, meaning } = fact
  const delta = deltaOf(deciding.changes, contact.id)
  if (meaning.order) delta.orders += 1
  if (meaning.currency !== null && meaning.counted !== '0')
    delta.revenue.set(meaning.currency, addAmounts(delta.revenue.get(meaning.currency) ?? '0', meaning.counted))
  countEvents(deciding, contact, event, { firstAt: occurredAt, lastAt: occurredAt, count: 1 }, { at: receivedAt })
  const warnings = isPast ? [] : startCampaigns(deciding, contact, { event, occurredAt, receivedAt })
  const recorded = { eventId: deciding.newId(), businessId, contactId: contact.id, receivedAt, source, fact }
  deciding.changes.events.push(recorded)
  if (!isPast) queueDeliveries(deciding, recorded)
  return warnings
}

/**
 * Events of one name, as far as their order makes no difference: statistics, stage, goals. `recordedAt`: when the last of
 * them was received, where that is not now.
 */
export function countEvents(
  deciding: Deciding,
  contact: ContactState,
  event: string,
  counted: Statistic,
  when: { at: number; recordedAt?: number },
): void {
  const delta = deltaOf(deciding.changes, contact.id)
  addStatistic(delta.statistics, event, counted)
  delta.stage = Math.max(delta.stage, stageOf(event) ?? 0)
  reachGoal(deciding, contact, { event, lastAt: counted.lastAt, ...when })
}

export function addStatistic(statistics: Map<string, Statistic>, event: string, added: Statistic): void {
  const seen = statistics.get(event)
  statistics.set(event, {
    firstAt: Math.min(added.firstAt, seen?.firstAt ?? Infinity),
    lastAt: Math.max(added.lastAt, seen?.lastAt ?? -Infinity),
    count: added.count + (seen?.count ?? 0),
  })
}

/** A later event with this key is a repeat. */
export function rememberKey({ state, changes }: Deciding, key: Changes['newKeys'][number]): void {
  state.keys.set(scopedKey(key.businessId, key.key), { occurredAt: key.occurredAt, erasedAs: null })
  changes.newKeys.push(key)
}
