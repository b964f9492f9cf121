/** The changes of a micro-batch to one contact, combined: sums, minimums, maximums and unions are commutative. */
import type { Profile } from './events/facts.ts'
import type { TraitEntry } from './events/traits.ts'
import type { Statistic } from './state.ts'

/** All changes to one contact. */
export interface ContactDelta {
  keyed: boolean
  /** True when a change affects later decisions. The save then raises the contact's version. */
  raisesVersion: boolean
  /** True when a fact that segments read has changed. The save then raises the contact's version, too. */
  changesWatched: boolean
  stage: number
  orders: number
  tags: Set<string>
  traits: Map<string, TraitEntry>
  profile: Profile
  statistics: Map<string, Statistic>
  /** Decimal strings by currency. */
  revenue: Map<string, string>
}

export function emptyDelta(): ContactDelta {
  return {
    keyed: false,
    raisesVersion: false,
    changesWatched: false,
    stage: 0,
    orders: 0,
    tags: new Set(),
    traits: new Map(),
    profile: {},
    statistics: new Map(),
    revenue: new Map(),
  }
}
