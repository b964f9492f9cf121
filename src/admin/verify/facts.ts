/**
 * The data that must be equal in both stores, as facts: one line of text each. Postgres and ClickHouse compute them
 * themselves, so a whole range of contacts is compared by a few checksums, and one by one only where these differ.
 */

export type FactKind =
  /** For a surviving contact and an event name: `count first last`, computed from the timeline. */
  | 'events'
  /** The same, from the statistics that analysts read. */
  | 'statistics'
  /** For a surviving contact and a currency: the sum of its events. */
  | 'revenue'
  | 'orders'
  /** For any contact id: its snapshot, as `revision md5`. */
  | 'contact'
  /** For a contact id that was merged: its survivor. */
  | 'merge'
  /** For a surviving contact: the number of surplus copies of its events. */
  | 'doubled'
  /** For a visitor: `revision links touches`, the latter two as counts. */
  | 'visitor'

/** What a fact is about. */
export type Subject = 'contact' | 'visitor'

export interface Fact {
  kind: FactKind
  /** The contact, or the visitor. */
  id: string
  /** Event or currency; empty when there is only one of the kind. */
  name: string
  value: string
}

/** A range of contact ids of one business, small enough for one short statement in each store. */
export interface Slice {
  businessId: string
  /** Exclusive. */
  after: string
  /** Inclusive. */
  upTo: string
}

/** The contacts of a slice, or the named ones. */
export type Scope = Slice | { businessId: string; ids: string[] }

/** The facts of one kind, of contacts whose ids end with `bucket`: their number, and the sum of their hashes. */
export interface Checksum {
  kind: FactKind
  bucket: string
  count: number
  sum: string
}

/** The sum of the hashes of all facts of one contact. */
export interface ContactChecksum {
  id: string
  sum: string
}

export const LEAST_ID = '00000000-0000-0000-0000-000000000000'
export const GREATEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** ClickHouse has the events of a contact twice, in its timeline and in its statistics. Postgres has them once, so its fact counts for both. */
export const withStatistics = <Item extends { kind: FactKind }>(item: Item): Item[] =>
  item.kind === 'events' ? [item, { ...item, kind: 'statistics' }] : [item]
