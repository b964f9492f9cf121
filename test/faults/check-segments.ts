/** Compares the members and the history of segments with the pure rules, and with each other. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { SegmentChangeRow } from '../../src/outbox/segment-change-row.ts'
import { isWindowed } from '../../src/rules/segments/condition-kinds.ts'
import { factConditionsOf } from '../../src/rules/segments/membership/reads-of.ts'
import type { ResolvedRule } from '../../src/rules/segments/rule.ts'
import { windowKey } from '../../src/rules/segments/windows/window-key.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import { historyFaults, show, sizeFaults } from '../segments/model/check-memberships.ts'
import { evaluate } from '../segments/model/evaluate.ts'
import type { PlainContact } from '../segments/model/plain-facts.ts'
import { type Happened, valueOfWindow } from '../segments/naive-windows.ts'
import type { Stores } from './read-held.ts'
import { type HeldSegments, readEvents, readPostgres, readShipped } from './read-segments.ts'

const MOST_COMPLAINTS = 10
const PATIENCE_MS = 60_000
/** Something that has been due for less than this many milliseconds is not late yet. */
const LATE_MS = 1000

/** Checks businesses that receive no more traffic. Changes caused by time may continue. */
export async function checkSegments(stores: Stores, businessIds: string[]): Promise<string[]> {
  const left = await untilFollowed(stores.sql, businessIds)
  if (left !== undefined) return [`segments: ${left} after ${PATIENCE_MS} ms`]
  const complaints: string[] = []
  for (const businessId of businessIds) complaints.push(...(await checkBusiness(stores, businessId)))
  return complaints.slice(0, MOST_COMPLAINTS).map((complaint) => `segments: ${complaint}`)
}

/** Resolves when the segment worker has caught up, or with a description of its remaining work if it takes too long. */
async function untilFollowed(sql: Sql, businessIds: string[]): Promise<string | undefined> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const late = Object.entries(await countLeft(sql, `{${businessIds.join(',')}}`)).filter(([, count]) => count > 0)
    if (late.length === 0) return undefined
    const left = late.map(([what, count]) => `${count} ${what}`).join(', ')
    if (Date.now() > deadline) return left
    await sleep(50)
  }
}

async function countLeft(sql: Sql, ids: string): Promise<Record<string, number>> {
  const [row] = await sql<[Record<string, number>]>`
    select
      (select count(*)::int from segment_rules where business_id = any(${ids}::uuid[])
        and (state <> 'current' or switched_at is not null)) as "rules are not in force",
      (select count(*)::int from segment_window_refreshes where business_id = any(${ids}::uuid[])) as "contacts wait for counts",
      (select count(*)::int from segment_windows where business_id = any(${ids}::uuid[])
        and next_at < ${Date.now() - LATE_MS}) as "counts are overdue",
      (select count(*)::int from segment_clock where business_id = any(${ids}::uuid[])
        and due_at < ${Date.now() - LATE_MS}) as "contacts are overdue"`
  return row
}

/** Reads ClickHouse before and after Postgres: changes shipped during the check are seen, and later saves are not. */
async function checkBusiness(stores: Stores, businessId: string): Promise<string[]> {
  const before = await readShipped(stores, businessId)
  const held = await readPostgres(stores, businessId)
  const after = await readShipped(stores, businessId)
  const byId = new Map([...before, ...held.kept.map(({ change }) => change)].map((row) => [row.change_id, row]))
  const changes = [...byId.values()]
    .toSorted((a, b) => a.at_ms - b.at_ms || (a.change_id < b.change_id ? -1 : 1))
    .map((row) => ({
      ...row,
      segmentId: row.segment_id,
      contactId: row.contact_id,
      at: row.at_ms,
      entered: row.entered === 1,
    }))
  return [
    ...(changes.length === 0 ? [`${businessId} has no history`] : []),
    ...findDoubled(after),
    ...findLost(held, after),
    ...historyFaults({ ...held, changes }),
    ...sizeFaults({ ...held, changes }),
    ...(await findWrongMembers(stores, businessId, held)),
  ]
}

function findDoubled(rows: SegmentChangeRow[]): string[] {
  const groups = [...Map.groupBy(rows, ({ change_id }) => change_id)]
  return groups
    .filter(([, copies]) => copies.length > 1)
    .map(([id, copies]) => `the change ${id} is in ClickHouse ${copies.length} times`)
}

function findLost({ kept }: HeldSegments, rows: SegmentChangeRow[]): string[] {
  const there = new Set(rows.map(({ change_id }) => change_id))
  return kept
    .filter(({ change, isShipped }) => isShipped && !there.has(change.change_id))
    .map(({ change }) => `the change ${change.change_id} is shipped, and is not in ClickHouse`)
}

/** Erased and merged contacts are not in `contacts`, and must not be members. */
async function findWrongMembers(stores: Stores, businessId: string, held: HeldSegments): Promise<string[]> {
  const { contacts, fields, rules, members } = held
  const events = await readEventsOf(stores, businessId, held)
  const now = Date.now()
  return rules.flatMap(({ no, rule }) => {
    const ids = members.get(no) ?? new Set()
    const strangers = [...ids]
      .filter((id) => !contacts.has(id))
      .map((id) => `${id} is in ${no}, and is merged or erased`)
    const wrong = [...contacts].flatMap(([id, contact]) => {
      const at = instantOf(contact, held.windowsDueAt.get(id) ?? Infinity, now)
      const facts = { ...contact, windows: countWindows(rule, events.get(id) ?? [], at) }
      return evaluate(rule, facts, fields, at) === ids.has(id)
        ? []
        : [`${id} is ${ids.has(id) ? 'in' : 'not in'} ${no} ${JSON.stringify(rule)}, wrongly at ${at}: ${show(facts)}`]
    })
    return [...strangers, ...wrong]
  })
}

/** Now, unless something is due that has not been evaluated yet. */
function instantOf({ dueAt, settledAt }: PlainContact, windowsDueAt: number, now: number): number {
  return Math.max(settledAt, Math.min(now, windowsDueAt - 1, (dueAt ?? Infinity) - 1))
}

function countWindows(rule: ResolvedRule, events: Happened[], at: number): Map<string, string> {
  const conditions = factConditionsOf(rule).filter(isWindowed)
  return new Map(
    conditions.flatMap((condition) => {
      const value = valueOfWindow(condition, events, at)
      return value === undefined ? [] : [[windowKey(condition), value] as const]
    }),
  )
}

/** The events that rules count, by surviving contact. */
async function readEventsOf(
  stores: Stores,
  businessId: string,
  { rules, survivors }: HeldSegments,
): Promise<Map<string, Happened[]>> {
  const conditions = rules.flatMap(({ rule }) => factConditionsOf(rule).filter(isWindowed))
  const recorded = await readEvents(stores, businessId, [...new Set(conditions.map(({ event }) => event))])
  const byContact = new Map<string, Happened[]>()
  for (const [id, events] of recorded) {
    const survivor = survivors.get(id) ?? id
    byContact.set(survivor, [...(byContact.get(survivor) ?? []), ...events])
  }
  return byContact
}
