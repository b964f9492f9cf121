import { createHash } from 'node:crypto'
import type { Logger } from '../../log.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import { requestResync } from './request-resync.ts'
import type { Lease } from '../lease.ts'
import { LONG_STATEMENT_SETTINGS, quoted } from '../../outbox/look-up-events.ts'
import { type Contact, type Expected, type Person, readExpected, readResent } from './read-expected.ts'
import type { Sql } from '../../stores/postgres.ts'

interface RebuildDeps {
  sql: Sql
  clickhouse: ClickHouseClient
  log: Logger
}

/** Number of contacts per batch. */
const BATCH = 5000
const ATTEMPTS = 3

/**
 * Makes the statistics in ClickHouse equal to those in Postgres, for the contacts of a group whose statistics differ.
 * Their view counts inserted events, but does not notice events that were lost, doubled or deleted. Events older than
 * the outbox, which no timeline can restore, are counted, too.
 *
 * Call this after the group's events are inserted and while nothing else is shipped. Then only the waiting rows still
 * have to be inserted, and these are not counted yet. Calls can be repeated: statistics that are right stay. Two
 * concurrent calls (a paused owner and its successor) may delete or double what the other has inserted, so each checks
 * the result. The paused owner may write last, after the other has checked and marked the group as shipped. If it finds
 * its lease lost after it sent anything, it requests another check of its contacts and rejects.
 */
export async function rebuildStatistics(deps: RebuildDeps, groupId: string, lease: Lease): Promise<void> {
  const contacts = await readResent(deps.sql, groupId)
  for (let at = 0; at < contacts.length; at += BATCH)
    await rebuildSome(deps, groupId, lease, contacts.slice(at, at + BATCH))
}

async function rebuildSome(deps: RebuildDeps, groupId: string, lease: Lease, contacts: Contact[]): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const people = await readExpected(deps.sql, contacts)
    const stored = await readStored(deps.clickhouse, people)
    const ofPerson = ({ ids }: Person) => ids.flatMap((id) => stored.get(id) ?? [])
    const wrong = people.filter((person) => !isRight(person, ofPerson(person)))
    if (wrong.length === 0) return
    if (attempt === ATTEMPTS) {
      deps.log.error({ group: groupId, contacts: wrong.length }, 'statistics still differ: run admin verify --repair')
      return
    }
    requireHeld(lease)
    // Workers that find the same statistics use the same token, so only one insert counts. After a deletion by another
    // worker, something else is found.
    const found = JSON.stringify([attempt, wrong.map((person) => [person.contactId, ofPerson(person)])])
    const token = `${groupId} ${createHash('sha256').update(found).digest('hex')}`
    const hasStored = wrong.some((person) => ofPerson(person).length > 0)
    await replace(deps, lease, { token, people: wrong, hasStored }).catch(async (error: unknown) => {
      if (!lease.isHeld()) await requestRecheck(deps, groupId, wrong)
      throw error
    })
  }
}

function requireHeld(lease: Lease): void {
  if (!lease.isHeld()) throw new Error('the timeline lease ran out')
}

async function requestRecheck({ sql, log }: RebuildDeps, groupId: string, people: Person[]): Promise<void> {
  try {
    for (const [businessId, theirs] of Map.groupBy(people, (person) => person.businessId))
      await requestResync(
        sql,
        businessId,
        theirs.map(({ contactId }) => contactId),
      )
  } catch (error) {
    log.error({ group: groupId, contacts: people.length }, 'statistics may differ: run admin verify --repair')
    throw error
  }
}

interface StoredStatistics {
  contact_id: string
  event: string
  first_ms: number
  last_ms: number
  count: number
}

/** Reads the statistics by contact id as ClickHouse stores them, merged or not. */
async function readStored(clickhouse: ClickHouseClient, people: Person[]): Promise<Map<string, StoredStatistics[]>> {
  if (people.length === 0) return new Map()
  const result = await clickhouse.query({
    query: `select contact_id, event, min(s.first_ms) as first_ms, max(s.last_ms) as last_ms, sum(s.count) as count
      from event_statistics as s where ${whereTheirs(people)} group by business_id, contact_id, event
      settings output_format_json_quote_64bit_integers = 0`,
    format: 'JSONEachRow',
    clickhouse_settings: LONG_STATEMENT_SETTINGS,
  })
  return Map.groupBy(await result.json<StoredStatistics>(), ({ contact_id }) => contact_id)
}

/** The first and last time may belong to an event that still waits. They will be right when it has been inserted. */
function isRight(person: Person, stored: StoredStatistics[]): boolean {
  const names = Map.groupBy(stored, ({ event }) => event)
  const due = person.statistics.filter(({ count, waiting }) => count > waiting)
  return names.size === due.length && due.every((one) => isRightOf(one, names.get(one.event) ?? []))
}

function isRightOf({ firstAt, lastAt, count, waiting }: Expected, stored: StoredStatistics[]): boolean {
  const first = Math.min(...stored.map((one) => one.first_ms))
  const last = Math.max(...stored.map((one) => one.last_ms))
  const counted = stored.reduce((sum, one) => sum + one.count, 0)
  if (counted !== count - waiting) return false
  return waiting > 0 ? first >= firstAt && last <= lastAt : first === firstAt && last === lastAt
}

interface Replacement {
  token: string
  people: Person[]
  /** True when ClickHouse has statistics of these people. */
  hasStored: boolean
}

/**
 * Deletes the statistics of a person under all ids, and inserts the right ones under the survivor's id. Rejects when
 * the lease was lost.
 */
async function replace(
  { clickhouse }: RebuildDeps,
  lease: Lease,
  { token, people, hasStored }: Replacement,
): Promise<void> {
  if (hasStored) {
    await clickhouse.command({
      query: `alter table event_statistics delete where ${whereTheirs(people)} settings mutations_sync = 2`,
      clickhouse_settings: LONG_STATEMENT_SETTINGS,
    })
    requireHeld(lease)
  }
  const lines = people.flatMap(linesOf)
  if (lines.length === 0) return
  await clickhouse.command({
    query: `insert into event_statistics settings async_insert = 0, insert_deduplicate = 1,
      insert_deduplication_token = '${token}', min_insert_block_size_rows = 10000000,
      min_insert_block_size_bytes = 1073741824, max_insert_block_size = 10000000
      format JSONEachRow\n${lines.join('\n')}`,
  })
  requireHeld(lease)
}

function linesOf({ businessId, contactId, statistics }: Person): string[] {
  const due = statistics.filter(({ count, waiting }) => count > waiting)
  return due.map(({ event, firstAt, lastAt, count, waiting }) =>
    JSON.stringify({
      business_id: businessId,
      contact_id: contactId,
      event,
      first_ms: firstAt,
      last_ms: lastAt,
      count: count - waiting,
    }),
  )
}

const whereTheirs = (people: Person[]): string =>
  `business_id in (${quoted(people.map(({ businessId }) => businessId))})
    and contact_id in (${quoted(people.flatMap(({ ids }) => ids))})`
