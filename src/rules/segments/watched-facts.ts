/** What the segments of a business read of a contact, in the working copy, and the watch over one item. */
import type { Statistic } from '../contact-parts.ts'
import type { TraitEntry } from '../events/traits.ts'
import type { CompiledSegment, CompiledSegments } from './compile-segments.ts'
import type { TimeKey } from './facts.ts'

/** The row of `segment_clock`. */
export interface SegmentClock {
  /** Epoch ms. Time alone changes nothing before; null: never. */
  dueAt: number | null
  /**
   * Epoch ms, 0 at first. From this instant up to `dueAt`, time changes nothing of what is written. No change of membership is dated
   * earlier from here on.
   */
  settledAt: number
  /** The facts that a batch set last: a change by time that they alone fix is silent. */
  bulkFacts: Set<TimeKey>
}

/** The parts of a contact that are read for its segments alone. Items change them in place. */
export interface WatchedFacts {
  statistics: Map<string, Statistic>
  traits: Map<string, TraitEntry>
  tags: Set<string>
  /** Decimal strings by currency. */
  revenue: Map<string, string>
  orderCount: number
  /** With the moves of this micro-batch. */
  stage: number
  windows: Map<string, string>
  /** When time alone changes a window next, by key (epoch ms). */
  windowsDue: Map<string, number>
  /** The contact is new, and no rule on windows was evaluated for it: the worker does so first. */
  isUndecided: boolean
  clock: SegmentClock
}

/** What an item has done to one contact. */
export interface ContactWatch {
  /** The answers before the item, by the number of the rule. */
  before: Map<number, boolean>
  /** What fixed the instants of changes by time before the item. */
  times: Map<TimeKey, string | number | undefined>
  isNew: boolean
}

/** Which rules have to be evaluated again at the end of the item. */
export interface ItemWatch {
  segments: CompiledSegments
  /** The item is from a batch or a replay: what it changes in segments is silent. */
  isBulk: boolean
  /** The item's time in epoch ms: its receipt; of bulk items when they are decided. */
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
  clock: { dueAt: null, settledAt: 0, bulkFacts: new Set() },
})

/** Whether the rule has to wait for the worker. */
export const isLeftToWorker = ({ isWindowed }: Pick<CompiledSegment, 'isWindowed'>, facts: WatchedFacts): boolean =>
  isWindowed && facts.isUndecided

/** The value that fixes the instants of this key. */
export function timeOf({ statistics, traits }: Pick<WatchedFacts, 'statistics' | 'traits'>, key: TimeKey) {
  const name = key.slice(key.indexOf(':') + 1)
  if (key.startsWith('first:')) return statistics.get(name)?.firstAt
  if (key.startsWith('last:')) return statistics.get(name)?.lastAt
  return traits.get(name)?.[1] ?? undefined
}
