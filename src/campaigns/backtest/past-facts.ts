/**
 * The facts of a contact as rules saw them at an instant. Facts with a history are as of then, the others as of today.
 */
import { type TopicChoices, topicChannel } from '../../rules/topics/topic.ts'
import type { Statistic, StoredConsent } from '../../rules/contact-parts.ts'
import { addStatistic } from '../../rules/events/add-statistic.ts'
import type { Channel } from '../../rules/events/facts.ts'
import { stageOf } from '../../rules/events/journey-stage.ts'
import { addAmounts } from '../../rules/events/money.ts'
import type { SegmentFacts } from '../../rules/segments/membership/facts.ts'
import type { EarlierEvents, History } from './load-histories.ts'
import type { PastPerson } from './load-people.ts'

export type Consents = Partial<Record<Channel, StoredConsent>>

/** The result of events. */
export type PastFacts = Pick<SegmentFacts, 'statistics' | 'revenue' | 'stage' | 'orderCount'>

/** The choices up to an instant (epoch milliseconds), the latest of each channel: see `foldByTime`. */
export const followChoices = ({ choices }: Pick<PastPerson, 'choices'>): ((now: number) => Consents) =>
  foldByTime<PastPerson['choices'][number], Consents>({
    items: choices,
    atOf: ({ at }) => at,
    start: () => ({}),
    add(latest, { channel, subscribed, at }) {
      latest[channel] = { subscribed, at }
    },
  })

/** The same for topics. */
export const followTopics = ({ topicChoices }: Pick<PastPerson, 'topicChoices'>): ((now: number) => TopicChoices) =>
  foldByTime<NonNullable<PastPerson['topicChoices']>[number], TopicChoices>({
    items: topicChoices ?? [],
    atOf: ({ at }) => at,
    start: () => ({}),
    add(latest, { topic, channel, subscribed, at }) {
      latest[topicChannel(topic, channel)] = { subscribed, at }
    },
  })

/**
 * The result of the events up to an instant (epoch milliseconds): see `foldByTime`. Events count from their receipt on.
 * Stage, orders and revenue are as of then if all events of the contact were read.
 */
export const followEvents = ({ earlier, events }: History): ((now: number) => PastFacts) =>
  foldByTime<History['events'][number], Sums>({
    items: events,
    atOf: ({ receivedAt }) => receivedAt,
    start() {
      const sums: Sums = { statistics: new Map(), revenue: new Map(), stage: 0, orderCount: 0 }
      for (const one of earlier) addEvents(sums, one)
      return sums
    },
    add: (sums, { event, at, isOrder, currency, amount }) =>
      addEvents(sums, { event, firstAt: at, lastAt: at, count: 1, orders: isOrder, currency: currency ?? '', amount }),
  })

interface Sums {
  statistics: Map<string, Statistic>
  revenue: Map<string, string>
  stage: number
  orderCount: number
}

function addEvents(sums: Sums, { event, firstAt, lastAt, count, orders, currency, amount }: EarlierEvents): void {
  const { statistics, revenue } = sums
  addStatistic(statistics, event, { firstAt, lastAt, count })
  sums.stage = Math.max(sums.stage, stageOf(event) ?? 0)
  sums.orderCount += orders
  if (currency !== '' && Number(amount) !== 0) revenue.set(currency, addAmounts(revenue.get(currency) ?? '0', amount))
}

interface Fold<Item, State> {
  /** In the order of their instants. */
  items: readonly Item[]
  atOf: (item: Item) => number
  start: () => State
  /** Changes the state. */
  add: (state: State, item: Item) => void
}

/**
 * Returns a function that combines all items up to an instant. A replay calls it again and again as its clock advances:
 * each answer continues from the previous one, and is valid until the next. An earlier instant starts again from the
 * beginning.
 */
function foldByTime<Item, State>({ items, atOf, start, add }: Fold<Item, State>): (now: number) => State {
  let state: State | undefined
  let [next, lastNow] = [0, -Infinity]
  return (now) => {
    if (state === undefined || now < lastNow) [state, next] = [start(), 0]
    lastNow = now
    for (let item = items[next]; item !== undefined && atOf(item) <= now; item = items[next]) {
      add(state, item)
      next += 1
    }
    return state
  }
}
