/** What the outbox still has of a person: events that were answered and are not in ClickHouse yet. */
import { setImmediate } from 'node:timers/promises'
import type { InterpretedType } from '../rules/events/facts.ts'
import type { Sql } from '../stores/postgres.ts'
import { type TimelineRow, decodeTimelineRow } from '../outbox/timeline-row.ts'
import { unpackEvents } from '../outbox/pack-events.ts'
import { type TimelinePosition, newestFirst } from './timeline-cursor.ts'

export interface UnshippedQuery {
  businessId: string
  contactIds: string[]
  /** The newest that are wanted. */
  count: number
  /** Only what is older. */
  before: TimelinePosition | undefined
  filter?: EventFilter
}

export interface EventFilter {
  event?: string
  type?: InterpretedType
}

/** Text of the outbox that is in memory at once; a single row can have more. */
const STEP_BYTES = 8 * 1024 * 1024
/** Rows kept beside those wanted, so that they are sorted now and then and not each time. */
const SPARE_ROWS = 1000

/**
 * The newest events of these contacts that the outbox held unshipped at some moment after the call. One that is shipped
 * between the two statements may be left out: ClickHouse has it then.
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
  /** Those of the contacts asked for that it names. */
  contacts: string[]
  bytes: number
}

/** One walk through what waits, for all who ask by the time it begins. */
interface Walk {
  contactIds: Set<string>
  found: Promise<FoundRow[]>
}

/** Contacts that one walk is about: more cost it more (find_unshipped). */
const MAX_CONTACTS_PER_VISITOR = 100
/** The walk that has not begun yet, and the end of all that were asked for, by their connection. */
const walks = new WeakMap<Sql, { next: Walk | undefined; last: Promise<unknown> }>()

/**
 * A walk takes 0.1 s when a million events wait, so there is one at a time: callers that come meanwhile share the next.
 * It must not be one that has begun, which may have seen the outbox before what the caller knows of was saved.
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
 * A text in quotes that are not escaped is a key of the line itself: in a value each quote has a backslash before it. Lines that
 * Postgres has written anew (a visitor's events, which a contact was given) have a space after the colon.
 */
const CONTACT = /"contact_id": ?"([^"]{36})"/
const OCCURRED = /"occurred_ms": ?(-?\d+)/

/** Of all lines that are added, the newest of these contacts: a contact can have a million waiting, of which one page is wanted. */
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
