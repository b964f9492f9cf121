/** Reads the events of a person from the outbox: they were answered, but are not in ClickHouse yet. */
import { setImmediate } from 'node:timers/promises'
import type { InterpretedType } from '../../rules/events/facts.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type TimelineRow, decodeTimelineRow } from '../../outbox/timeline-row.ts'
import { unpackEvents } from '../../outbox/pack-events.ts'
import { type TimelinePosition, newestFirst } from './timeline-cursor.ts'

export interface UnshippedQuery {
  businessId: string
  contactIds: string[]
  /** Number of events wanted; the newest are returned. */
  count: number
  /** Only events older than this position. */
  before: TimelinePosition | undefined
  filter?: EventFilter
}

export interface EventFilter {
  event?: string
  type?: InterpretedType
}

/** Bytes of the outbox that are in memory at once; a single row can have more. */
const STEP_BYTES = 8 * 1024 * 1024
/** Rows kept in addition to those wanted, so that sorting is needed only occasionally. */
const SPARE_ROWS = 1000

/**
 * Returns the newest events of these contacts that were unshipped in the outbox at some moment after the call. An event
 * that is shipped between the two statements may be left out: ClickHouse has it then.
 */
export async function readUnshipped(sql: Sql, wanted: UnshippedQuery): Promise<TimelineRow[]> {
  const rows = await findRows(sql, wanted.contactIds)
  const newest = keepNewest(wanted)
  for (const ids of runInChunks(rows)) {
    const saves = await sql<{ events: string }[]>`
      select events from outbox where id = any(${`{${ids.join(',')}}`}::bigint[]) and shipped_at is null`
    for (const { events } of saves) newest.add(unpackEvents(events))
  }
  return newest.rows()
}

interface FoundRow {
  id: number
  /** The requested contacts that the row names. */
  contacts: string[]
  bytes: number
}

/** One walk through the waiting rows, for all callers that ask before it starts. */
interface Walk {
  contactIds: Set<string>
  found: Promise<FoundRow[]>
}

/** Maximum contacts of one walk: more would make it more expensive (find_unshipped). */
const MAX_CONTACTS_PER_VISITOR = 100
/** By connection: the walk that has not started yet, and the end of the last walk. */
const walks = new WeakMap<Sql, { next: Walk | undefined; last: Promise<unknown> }>()

/**
 * A walk takes 0.1 s when a million events wait, so only one runs at a time: callers that arrive in the meantime share
 * the next one. They must not share one that has started: it may have read the outbox before the events that the caller
 * knows of were saved.
 */
async function findRows(sql: Sql, contactIds: string[]): Promise<FoundRow[]> {
  const walking = walks.get(sql) ?? { next: undefined, last: Promise.resolve() }
  walks.set(sql, walking)
  const joined = walking.next && walking.next.contactIds.size + contactIds.length <= MAX_CONTACTS_PER_VISITOR
  const walk = (joined && walking.next) || beginWalk(sql, walking)
  for (const id of contactIds) walk.contactIds.add(id)
  const rows = await walk.found
  const ours = new Set(contactIds)
  return rows.filter(({ contacts }) => contacts.some((id) => ours.has(id)))
}

function beginWalk(sql: Sql, walking: { next: Walk | undefined; last: Promise<unknown> }): Walk {
  const contactIds = new Set<string>()
  const before = walking.last
  const find = async () => {
    await before.catch(() => undefined)
    await setImmediate()
    if (walking.next === walk) walking.next = undefined
    return await sql<
      FoundRow[]
    >`select id, contacts, bytes from find_unshipped(${`{${[...contactIds].join(',')}}`}::uuid[])`
  }
  const walk: Walk = { contactIds, found: find() }
  walking.next = walk
  walking.last = walk.found
  return walk
}

function runInChunks(rows: FoundRow[]): number[][] {
  const steps: number[][] = []
  let room = 0
  for (const { id, bytes } of rows) {
    if (bytes > room || steps.length === 0) {
      steps.push([])
      room = STEP_BYTES
    }
    steps.at(-1)?.push(id)
    room -= bytes
  }
  return steps
}

/**
 * An unescaped text in quotes is a key of the line itself: within a value, each quote has a backslash before it. Lines
 * that Postgres has rewritten (events of a visitor that were assigned to a contact) have a space after the colon.
 */
const CONTACT = /"contact_id": ?"([^"]{36})"/
const OCCURRED = /"occurred_ms": ?(-?\d+)/

/**
 * Keeps the newest events of these contacts from all lines that are added. A contact can have a million waiting events,
 * of which only one page is needed.
 */
function keepNewest({ businessId, contactIds, count, before, filter = {} }: UnshippedQuery) {
  const ours = new Set(contactIds)
  let rows: TimelineRow[] = []
  let oldest = -Infinity
  const addLine = (line: string): void => {
    if (!ours.has(CONTACT.exec(line)?.[1] ?? '') || Number(OCCURRED.exec(line)?.[1]) < oldest) return
    const row = decodeTimelineRow(line)
    if (row.business_id !== businessId || (before && newestFirst(before, row) >= 0)) return
    if (row.event !== (filter.event ?? row.event) || row.type !== (filter.type ?? row.type)) return
    rows.push(row)
    if (rows.length >= count + SPARE_ROWS) cut()
  }
  const cut = (): void => {
    rows = rows.toSorted(newestFirst).slice(0, count)
    oldest = rows.length < count ? -Infinity : (rows.at(-1)?.occurred_ms ?? -Infinity)
  }
  return {
    add(lines: string): void {
      for (const line of lines.split('\n')) if (line !== '') addLine(line)
    },
    rows(): TimelineRow[] {
      cut()
      return rows
    },
  }
}
