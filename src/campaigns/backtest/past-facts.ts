/** A contact as rules saw it at an instant: what has a history is of then, the rest is of today. */
import type { Statistic, StoredConsent } from '../../rules/contact-parts.ts'
import { addStatistic } from '../../rules/events/add-statistic.ts'
import type { Channel } from '../../rules/events/facts.ts'
import { stageOf } from '../../rules/events/journey-stage.ts'
import { addAmounts } from '../../rules/events/money.ts'
import type { SegmentFacts } from '../../rules/segments/facts.ts'
import type { EarlierEvents, History } from './load-histories.ts'
import type { PastPerson } from './load-people.ts'

/** The choices until an instant (epoch ms), the latest of each channel. */
export function consentAt(
  { choices }: Pick<PastPerson, 'choices'>,
  now: number,
): Partial<Record<Channel, StoredConsent>> {
  const latest: Partial<Record<Channel, StoredConsent>> = {}
  for (const { channel, subscribed, at } of choices) if (at <= now) latest[channel] = { subscribed, at }
  return latest
}

/**
 * Events count from their receipt on. Stage, orders and revenue are of then if all events of the contact were read.
 * @param now epoch ms
 */
export function pastFacts(
  today: SegmentFacts,
  person: Pick<PastPerson, 'choices'>,
  { earlier, events }: History,
  now: number,
): SegmentFacts {
  const statistics = new Map<string, Statistic>()
  const revenue = new Map<string, string>()
  let [stage, orderCount] = [0, 0]
  const add = ({ event, firstAt, lastAt, count, orders, currency, amount }: EarlierEvents): void => {
    addStatistic(statistics, event, { firstAt, lastAt, count })
    stage = Math.max(stage, stageOf(event) ?? 0)
    orderCount += orders
    if (currency !== '' && Number(amount) !== 0) revenue.set(currency, addAmounts(revenue.get(currency) ?? '0', amount))
  }
  for (const one of earlier) add(one)
  for (const { event, at, receivedAt, isOrder, currency, amount } of events)
    if (receivedAt <= now)
      add({ event, firstAt: at, lastAt: at, count: 1, orders: isOrder, currency: currency ?? '', amount })
  return { ...today, statistics, revenue, stage, orderCount, subscriptions: consentAt(person, now) }
}
