/**
 * Defines how a kind of difference is found, described and repaired. `kinds.ts` lists all kinds. Slices, repetition,
 * time limits, progress and the report are the same for all of them.
 */
import type { PendingQuery, Row } from 'postgres'
import type { Redis } from '../../stores/redis.ts'
import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'

export interface CompareDeps {
  /** A read-only connection. */
  sql: Sql
  clickhouse: ClickHouseClient
  signal: AbortSignal
  /** Shows the present activity of a long command. */
  showStatus(text: string): void
}

export interface RepairDeps extends CompareDeps {
  /** When the command started, on the clock of Postgres. */
  startedAt: Date
  /** A connection that may write. */
  writer: Sql
  log: Logger
  config: Pick<Config, 'leaseMs'>
}

/** Kinds of repairs, with their words in the report. */
export const REPAIRS = {
  tables: ['table', 'recreated'],
  /** Rows of the outbox with events that ClickHouse lacked. */
  saves: ['save', 'sent again'],
  copies: ['doubled event', 'reduced to one copy'],
  /** Contacts whose snapshots and statistics are rewritten. */
  contacts: ['contact', 'sent again'],
  /** Visitors with their links and touches. */
  visitors: ['visitor', 'sent again'],
  erasures: ['erasure', 'repeated'],
  /** Contacts whose figures or identities were wrong in Postgres. */
  corrected: ['contact', 'corrected in Postgres'],
  keys: ['idempotency key', 'restored in Postgres'],
  /** Contacts whose memberships of segments, or clocks, were wrong. */
  members: ['contact', 'corrected in its segments'],
  sizes: ['segment size', 'corrected'],
} as const
export type RepairCounts = Record<keyof typeof REPAIRS, number>

export interface Difference {
  /** A name in `KINDS`. */
  kind: string
  businessId: string | null
  contactId: string | null
  /** Name of the event, currency, visitor, rule, view or partition. */
  name: string
  /** The value in each store as text; null when the store has none. */
  postgres: string | null
  clickhouse: string | null
  /** Further information about the difference. */
  note: string
  /** The store that must be corrected; absent where that is not known. */
  wrong?: 'postgres' | 'clickhouse'
  /**
   * Whether ClickHouse has more of the contact or visitor than Postgres, as after a restore of Postgres from a backup.
   */
  isAhead?: true
  /** The segment, and whether the contact should be a member of it. */
  segmentId?: string
  expected?: boolean
  /** Ids of some of the events that the outbox can send again, or that Postgres does not have. */
  eventIds?: string[]
}

export const differenceOf = (kind: string, details: Partial<Difference>): Difference => ({
  kind,
  businessId: null,
  contactId: null,
  name: '',
  postgres: null,
  clickhouse: null,
  note: '',
  ...details,
})

export interface Kind {
  /** Name in the report. */
  name: string
  /** The values that the report shows. `own`: a rule within Postgres or Redis, which nothing repairs. */
  values?: 'both' | 'own' | 'none'
}

/** The subject of a fact. */
export type SubjectName = 'contact' | 'visitor'

/** A piece of data that must be equal in both stores, as a line of text. */
export interface Fact {
  kind: string
  /** Id of the contact or the visitor. */
  id: string
  /** Event or currency; empty when there is only one fact of the kind. */
  name: string
  value: string
}

/** A range of ids of one business, small enough for one short statement in each store. */
export interface Slice {
  businessId: string
  /** Exclusive. */
  after: string
  /** Inclusive. */
  upTo: string
}

/** The ids of a slice, or the named ones. */
export type Scope = Slice | { businessId: string; ids: string[] }

export type Fragment = PendingQuery<Row[]>

export interface DifferentFact {
  kind: string
  name: string
  postgres: string | null
  clickhouse: string | null
}

/** A contact or a visitor. */
export interface Compared {
  subject: SubjectName
  businessId: string
  id: string
}

/** A contact or visitor that was seen to differ several times. */
export interface Different extends Compared {
  /** Whether Postgres has it. */
  isKnown: boolean
  facts: DifferentFact[]
}

/**
 * A kind of fact. Both stores select `kind, id, name, value`. If the query of one kind selects facts of several kinds,
 * the others have no query.
 */
export interface FactKind extends Kind {
  postgres?(sql: Sql, scope: Scope): Fragment
  clickhouse?(scope: Scope): string
  /** Formats a value for people. */
  describe?(value: string): string
  /**
   * Explains a difference. `inOutbox`: number of events with this name that the outbox can send again. `setAside`:
   * number of the contact's events that became dead letters.
   */
  note?(fact: DifferentFact, inOutbox: number, setAside: number): string
  /**
   * Returns whether ClickHouse is known to be wrong, because it follows Postgres, or because two of its own records
   * disagree.
   */
  isStale?(fact: DifferentFact, all: DifferentFact[]): boolean
  /**
   * `outbox`: lacking events are sent again. `state`: the state of the subject is sent again. `copies`: surplus copies
   * are deleted.
   */
  repairs: ('outbox' | 'state' | 'copies')[]
}

export interface Subject {
  kinds: Record<string, FactKind>
  /**
   * Table of Postgres with all subjects of this kind, and its id column. All ids are after `least`, up to `greatest`.
   */
  table: string
  column: string
  least: string
  greatest: string
  /** Selects `'status', id, '', status` for these ids (`Status`). */
  status(sql: Sql, businessId: string, ids: string[]): Fragment
  /** Finds violated rules within Postgres. */
  checkRules?(sql: Sql, slice: Slice): Promise<Difference[]>
  repair(deps: RepairDeps, businessId: string, known: Different[]): Promise<Partial<RepairCounts>>
}

/**
 * State of an id in Postgres. `waiting`: a part of it is not shipped yet. In any other state it is complete in
 * ClickHouse.
 */
export type Status = 'settled' | 'waiting' | 'erased' | 'unknown'

/** A kind that is found in a business as a whole. `Item`: the data about one difference. */
export interface BusinessKind<Item = unknown> extends Kind {
  /** Name of the part that could not be compared, if a statement takes too long. */
  part: string
  find(deps: CompareDeps, businessId: string): AsyncGenerator<Page<Item>>
  describe(item: Item): Partial<Difference>
  repair(deps: RepairDeps, businessId: string, items: Item[]): Promise<Partial<RepairCounts>>
}

export interface Page<Item> {
  items: Item[]
  /** Parts that kept changing. */
  unstable?: { what: string; reason: string }[]
  /** Number of contacts that kept changing. */
  changing?: number
}

/** A kind that is found once for all businesses, and that nothing repairs. */
export interface SystemKind extends Kind {
  /** Number of times that a difference must be seen to count. */
  sightings: number
  find(deps: Pick<CompareDeps, 'sql' | 'clickhouse'> & { redis: Redis }): Promise<Partial<Difference>[]>
}
