/**
 * What both stores must say alike, as facts: one line of text each. Postgres and ClickHouse work them out by themselves,
 * so that a whole range of contacts is compared by a few checksums, and read one by one only where these differ.
 */

export type FactKind =
  /** Of a survivor and a name: `count first last`, by the timeline. */
  | 'events'
  /** The same, by the statistics that analysts read. */
  | 'statistics'
  /** Of a survivor and a currency: what its events add up to. */
  | 'revenue'
  | 'orders'
  /** Of any id: its snapshot, as `revision md5`. */
  | 'contact'
  /** Of an id that was merged: its survivor. */
  | 'merge'
  /** Of a survivor: copies too many of its events. */
  | 'doubled'
  /** Of a visitor: `revision links touches`, the latter two as numbers of them. */
  | 'visitor'

/** Whom facts are of. */
export type Subject = 'contact' | 'visitor'

export interface Fact {
  kind: FactKind
  /** The contact, or the visitor. */
  id: string
  /** Event or currency; empty when there is just one of the kind. */
  name: string
  value: string
}

/** A range of contact ids of one business, small enough for one short statement in each store. */
export interface Slice {
  businessId: string
  /** Outside. */
  after: string
  /** Inside. */
  upTo: string
}

/** The contacts of a slice, or these. */
export type Scope = Slice | { businessId: string; ids: string[] }

/** Facts of one kind and of contacts whose ids end alike: how many, and the sum of their hashes. */
export interface Checksum {
  kind: FactKind
  bucket: string
  count: number
  sum: string
}

/** All facts of one contact, as the sum of their hashes. */
export interface ContactChecksum {
  id: string
  sum: string
}

export const LEAST_ID = '00000000-0000-0000-0000-000000000000'
export const GREATEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** What Postgres knows of events once, ClickHouse says twice: in its timeline and in its statistics. */
export const twice = <Item extends { kind: FactKind }>(item: Item): Item[] =>
  item.kind === 'events' ? [item, { ...item, kind: 'statistics' }] : [item]
