import type { FactKind } from './facts.ts'

/** Where something does not agree, or breaks a rule of its own store. */
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
  /** Event, currency, visitor, rule, view or partition. */
  name: string
  /** What each says, in words; null when it says nothing. */
  postgres: string | null
  clickhouse: string | null
  /** What is known about it beyond that. */
  note: string
  /** The store that has to be corrected; absent where that is not known. */
  wrong?: 'postgres' | 'clickhouse'
  /** ClickHouse knows more of the contact or visitor than Postgres, as after Postgres was restored from a backup. */
  isAhead?: true
  /** Events that the outbox can send again, or that Postgres does not know; some of them when there are many. */
  eventIds?: string[]
}

/** The figures of a fact for a person. */
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
