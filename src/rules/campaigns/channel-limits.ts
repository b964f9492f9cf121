/**
 * How many messages a sender may send per second and per day. Every attempt takes a turn when it is claimed. Instants
 * are epoch milliseconds, and seconds are those of the epoch: a second runs from one whole second to the next, and a
 * day from midnight to midnight in the zone of the business.
 */
import { nextLocalTime } from './local-time.ts'

/** Null: no limit. */
export interface ChannelLimits {
  /** Turns per second. */
  perSecond: number | null
  /** Turns per day. */
  dailyBudget: number | null
  /** Percentage of the turns of a day that marketing leaves, rounded up. */
  reserve: number
}

/** The next free place in a queue: after `taken` places of a second. */
interface QueueEnd {
  second: number
  taken: number
}

export interface ChannelUse {
  /** The latest second with turns, and their number. */
  second: number
  sentInSecond: number
  /** The end of the latest day with turns, and their number. */
  dayEndsAt: number
  sentInDay: number
  queue: QueueEnd
  /** Queue of messages that came too late for their place. */
  late: QueueEnd
  /** Queue of messages of calls: their places are kept free of all others. */
  calls: QueueEnd
  /** Places of that queue which were taken in the latest second. */
  callsInSecond: number
}

export const UNUSED: ChannelUse = {
  second: 0,
  sentInSecond: 0,
  dayEndsAt: 0,
  sentInDay: 0,
  queue: { second: 0, taken: 0 },
  late: { second: 0, taken: 0 },
  calls: { second: 0, taken: 0 },
  callsInSecond: 0,
}

export interface AskedTurn {
  now: number
  zone: string
  /**
   * Whether it had a place, and its time has come. Its next place is before those of messages that never had one.
   */
  isQueued: boolean
  isMarketing: boolean
  /** Of a call: it goes before all others. */
  isCall?: boolean
  /** From then on a call is not sent, so that it gets no place. */
  expiresAt?: number
}

/** The limit that delays a message until `until`. */
export type Turn = { kind: 'taken' } | { kind: 'wait'; until: number; by: 'per_second' | 'daily_budget' }

/**
 * Decides whether one more message may be sent now. A message that has to wait for its second gets a place in the
 * queue, with `perSecond` places evenly spread over each second. The place is a plan, not a promise: a message that is
 * due while the second has a turn left gets that turn. Places of calls are kept: no other message gets them.
 * @returns the state for the next message
 */
export function takeTurn(
  use: ChannelUse,
  { perSecond, dailyBudget, reserve }: ChannelLimits,
  { now, zone, isQueued, isMarketing, isCall = false, expiresAt = Infinity }: AskedTurn,
): { turn: Turn; use: ChannelUse } {
  const current = useAt(use, now, zone)
  const { sentInSecond, sentInDay, dayEndsAt } = current
  const left = dailyBudget === null ? null : dailyBudget - sentInDay
  const isSpent = left !== null && (left <= 0 || (isMarketing && left <= reserved(left + sentInDay, reserve)))
  if (isSpent) return { turn: { kind: 'wait', until: dayEndsAt, by: 'daily_budget' }, use: current }
  const hasPlace = isCall && isQueued
  const kept = perSecond === null || hasPlace ? 0 : keptForCalls(current, perSecond)
  if (perSecond !== null && sentInSecond + kept >= perSecond)
    return isCall ? queueCall(current, perSecond, expiresAt) : queueUp(current, perSecond, isQueued)
  return {
    turn: { kind: 'taken' },
    use: {
      ...current,
      sentInSecond: sentInSecond + 1,
      sentInDay: sentInDay + 1,
      callsInSecond: current.callsInSecond + (hasPlace ? 1 : 0),
    },
  }
}

/** The places of this second that calls have and did not take yet. */
function keptForCalls({ second, calls, callsInSecond }: ChannelUse, perSecond: number): number {
  if (calls.second < second) return 0
  return Math.max(0, (calls.second > second ? perSecond : calls.taken) - callsInSecond)
}

function queueCall(use: ChannelUse, perSecond: number, expiresAt: number): { turn: Turn; use: ChannelUse } {
  const { until, end } = placeAfter(latest(use.calls, { second: use.second + 1, taken: 0 }), perSecond)
  return { turn: { kind: 'wait', until, by: 'per_second' }, use: until < expiresAt ? { ...use, calls: end } : use }
}

/** `percent` of a budget, rounded up. */
const reserved = (budget: number, percent: number): number => Math.ceil((budget * percent) / 100)

/** The clocks of workers differ a little, so the latest second and the latest day of any worker count. */
function useAt(use: ChannelUse, now: number, zone: string): ChannelUse {
  const second = Math.floor(now / 1000)
  const isLater = second > use.second
  const isNextDay = now >= use.dayEndsAt
  return {
    ...use,
    ...(isLater && { second, sentInSecond: 0, callsInSecond: 0 }),
    ...(isNextDay && { dayEndsAt: nextLocalTime(now, { time: '00:00' }, zone), sentInDay: 0 }),
  }
}

function queueUp(use: ChannelUse, perSecond: number, isQueued: boolean): { turn: Turn; use: ChannelUse } {
  const next = { second: use.second + 1, taken: 0 }
  const ends = isQueued ? [use.late] : [use.late, use.queue]
  const { until, end } = placeAfter(ends.reduce(latest, next), perSecond)
  return {
    turn: { kind: 'wait', until, by: 'per_second' },
    use: isQueued ? { ...use, late: end } : { ...use, queue: end },
  }
}

/** Returns the next place of a queue, and its new end. */
function placeAfter(queue: QueueEnd, perSecond: number): { until: number; end: QueueEnd } {
  const place = nextPlace(queue, perSecond)
  const until = place.second * 1000 + Math.floor((place.taken * 1000) / perSecond)
  return { until, end: { ...place, taken: place.taken + 1 } }
}

const latest = (one: QueueEnd, other: QueueEnd): QueueEnd =>
  other.second > one.second || (other.second === one.second && other.taken > one.taken) ? other : one

const nextPlace = ({ second, taken }: QueueEnd, perSecond: number): QueueEnd =>
  taken < perSecond ? { second, taken } : { second: second + 1, taken: 0 }
