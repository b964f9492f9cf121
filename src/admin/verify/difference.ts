import type { FactKind } from './facts.ts'

/** The kind of data that differs between the stores, or that breaks a rule of its own store. */
export type DifferenceKind =
  | FactKind
  | 'key'
  | 'erasure'
  | 'business'
  | 'view'
  | 'table'
  | 'postgres'
  | 'redis'
  | 'groups'

export interface Difference {
  kind: DifferenceKind
  businessId: string | null
  contactId: string | null
  /** Name of the event, currency, visitor, rule, view or partition. */
  name: string
  /** The value in each store as text; null when it has none. */
  postgres: string | null
  clickhouse: string | null
  /** What else is known about the difference. */
  note: string
  /** The store that must be corrected; absent where that is not known. */
  wrong?: 'postgres' | 'clickhouse'
  /** ClickHouse has more of the contact or visitor than Postgres, as after Postgres was restored from a backup. */
  isAhead?: true
  /** Some of the events that the outbox can send again, or that Postgres does not have. */
  eventIds?: string[]
}

/** Formats the value of a fact for people. */
export function describeValue(kind: FactKind, value: string): string {
  if (kind === 'events' || kind === 'statistics') return describeStatistic(value)
  if (kind === 'contact') return `revision ${value.split(' ')[0]}`
  if (kind === 'visitor') return describeVisitor(value)
  return value
}

function describeVisitor(value: string): string {
  const [revision, links, touches] = value.split(' ')
  return `revision ${revision}, links ${links}, touches ${touches}`
}

function describeStatistic(value: string): string {
  const [count = 0, first = 0, last = 0] = value.split(' ').map(Number)
  return `${count === 1 ? 'once' : `${count} times`}, ${describeTime(first)} to ${describeTime(last)}`
}

const describeTime = (ms: number): string => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms} ms`)
