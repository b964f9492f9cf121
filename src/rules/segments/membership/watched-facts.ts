/** The facts that the segments of a business read of a contact, in the working copy, and the watch over one item. */
import type { Statistic } from '../../contact-parts.ts'
import type { TraitEntry } from '../../events/traits.ts'
import type { CompiledSegment, CompiledSegments } from '../compile/compile-segments.ts'
import type { TimeKey } from './facts.ts'

/** The row of `segment_clock`. */
export interface SegmentClock {
  /** Epoch ms. Before this instant, time alone changes nothing; null: never. */
  dueAt: number | null
  /**
   * Epoch ms, initially 0. From this instant up to `dueAt`, time does not change recorded memberships. Later changes of
   * membership never get an earlier time.
   */
  settledAt: number
  /** The facts that a batch set last. A change by time is silent when only these facts determine it. */
  bulkFacts: Set<TimeKey>
  /** When the contact last entered or left each rule that reads windows, by the rule's number (epoch ms). */
  changedAt: Map<number, number>
}

/** The parts of a contact that are read only for its segments. Items change them in place. */
export interface WatchedFacts {
  statistics: Map<string, Statistic>
  traits: Map<string, TraitEntry>
  tags: Set<string>
  /** Decimal strings by currency. */
  revenue: Map<string, string>
  orderCount: number
  /** Includes the moves in this micro-batch. */
  stage: number
  windows: Map<string, string>
  /** The next time at which time alone changes a window, by key (epoch ms). */
  windowsDue: Map<string, number>
  /**
   * True when the contact is new, and no rule on windows has been evaluated for it: the worker has to do that first.
   */
  isUndecided: boolean
  clock: SegmentClock
}

/** The effects of an item on one contact. */
export interface ContactWatch {
  /** The answers before the item, by number of the rule. */
  before: Map<number, boolean>
  /** The values before the item that determined the instants of changes by time. */
  times: Map<TimeKey, string | number | undefined>
  isNew: boolean
}

/** The rules that have to be evaluated again at the end of the item. */
export interface ItemWatch {
  segments: CompiledSegments
  /** True for an item from a batch or a replay: its changes in segments are silent. */
  isBulk: boolean
  /** Time of the item in epoch ms: its receipt or, for bulk items, the time of the decision. */
  now: number
  contacts: Map<string, ContactWatch>
}

export const emptyWatchedFacts = (): WatchedFacts => ({
  statistics: new Map(),
  traits: new Map(),
  tags: new Set(),
  revenue: new Map(),
  orderCount: 0,
  stage: 0,
  windows: new Map(),
  windowsDue: new Map(),
  isUndecided: false,
  clock: { dueAt: null, settledAt: 0, bulkFacts: new Set(), changedAt: new Map() },
})

/** Returns whether the rule has to wait for the worker. */
export const isLeftToWorker = ({ isWindowed }: Pick<CompiledSegment, 'isWindowed'>, facts: WatchedFacts): boolean =>
  isWindowed && facts.isUndecided

/** Returns the value that determines the instants of this key. */
export function timeOf({ statistics, traits }: Pick<WatchedFacts, 'statistics' | 'traits'>, key: TimeKey) {
  const name = key.slice(key.indexOf(':') + 1)
  if (key.startsWith('first:')) return statistics.get(name)?.firstAt
  if (key.startsWith('last:')) return statistics.get(name)?.lastAt
  return traits.get(name)?.[1] ?? undefined
}
