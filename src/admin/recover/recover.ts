import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import { acceptLost } from '../../stream/consume/kept.ts'
import { readPositions } from '../../stream/partitions/positions.ts'
import { CommandError } from '../command.ts'
import { listBusinesses, listUnknownBusinesses } from '../verify/check-stores.ts'
import type { Comparison } from '../verify/compare-one-by-one.ts'
import { compareSlices } from '../verify/compare-slices.ts'
import { findClickHouseAhead, isMergedInClickHouse } from '../verify/find-ahead.ts'
import { findLost, type LostEvent, readCovered } from '../verify/find-lost.ts'
import type { Different, RepairDeps } from '../verify/kind.ts'
import { waitUntilFewer } from '../verify/wait-until-fewer.ts'
import { withShipper } from '../verify/with-shipper.ts'
import { eraseAgain } from './erase-again.ts'
import { readPeople } from './read-people.ts'
import { removeLost, removeVisitors } from './remove-lost.ts'
import { requireStopped } from './require-stopped.ts'
import { findKept } from './find-kept.ts'
import { fileOf, lineOf, writeEvents } from './write-events.ts'

export interface RecoverDeps extends RepairDeps {
  redis: Redis
  /** Folder for the files of lost events. */
  directory: string
  sliceSize: number
}

export interface Recovered {
  /** One entry per business with lost events. */
  files: { businessId: string; file: string; events: number; withoutIdentity: number }[]
  /**
   * Number of contacts that Postgres does not know, or that were merged since the backup, and number of unknown
   * visitors.
   */
  contacts: number
  visitors: number
  /** Number of events that return automatically when their visitor is identified again. */
  anonymous: number
  /** Number of people who were erased again. */
  erasures: number
}

/**
 * After Postgres was restored from a backup that is older than ClickHouse: erases again the people who have been erased
 * since, writes the events that only ClickHouse has to files, and removes them from ClickHouse. `admin verify --repair`
 * repairs the remaining differences. This can be killed at any point and run again.
 */
export async function recover(deps: RecoverDeps): Promise<Recovered> {
  await requireStopped(deps.sql, deps.config.leaseMs, deps.signal)
  // Read before anything is shipped, because shipping makes the outbox look younger.
  const since = await readCovered(deps.sql)
  await checkBeforeShipping(deps.writer)
  const unknown = await listUnknownBusinesses(deps.sql, deps.clickhouse)
  const recovered: Recovered = { files: [], contacts: 0, visitors: 0, anonymous: 0, erasures: 0 }
  await withShipper(deps, async () => {
    for (const businessId of [...(await listBusinesses(deps.sql)), ...unknown])
      await recoverBusiness(deps, { businessId, since, recovered })
  })
  await acceptLost(deps.redis, await readPositions(deps.sql))
  return recovered
}

/**
 * Rows that were waiting when the backup was made may have reached ClickHouse since. Makes the shipper check before it
 * sends them (timeline/shipping/claim-resends.ts).
 */
async function checkBeforeShipping(sql: Sql): Promise<void> {
  await sql`update outbox set resend = '{}', group_id = null where shipped_at is null`
}

interface BusinessRecovery {
  businessId: string
  since: number
  recovered: Recovered
}

async function recoverBusiness(deps: RecoverDeps, work: BusinessRecovery): Promise<void> {
  const { businessId, recovered } = work
  recovered.erasures += await eraseAgain(deps, businessId)
  await waitUntilShipped(deps)
  const recoverSome = { contact: recoverContacts, visitor: recoverVisitors }
  for (const subject of ['contact', 'visitor'] as const) {
    // If Postgres lacks very many, one comparison shows only some of them.
    const seen = new Set<string>()
    for (let before = -1; before < seen.size && !deps.signal.aborted;) {
      before = seen.size
      for await (const comparison of compareSlices(deps, subject, businessId, deps.sliceSize)) {
        requireCompared(comparison)
        const fresh = comparison.different.filter(({ id }) => !seen.has(id))
        for (const id of await recoverSome[subject](deps, work, fresh)) seen.add(id)
      }
    }
  }
  deps.signal.throwIfAborted()
}

/** Returns the ids of the contacts that it handled. */
async function recoverContacts(deps: RecoverDeps, work: BusinessRecovery, different: Different[]): Promise<string[]> {
  const { businessId, since, recovered } = work
  const ahead = await findClickHouseAhead(deps, businessId, different)
  const contacts = different.filter(({ id }) => ahead.has(id))
  if (contacts.length === 0) return []
  const ids = contacts.map(({ id }) => id)
  const events = await findLost(deps, businessId, ids, since)
  const returning = events.filter(({ isAnonymous }) => isAnonymous)
  const kept = await findKept(deps, events)
  const saved = events.filter((event) => !event.isAnonymous && !kept.has(event))
  await saveEvents(deps, work, { contacts, events: saved })
  const unknown = contacts.filter(({ isKnown }) => !isKnown).map(({ id }) => id)
  const merged = contacts.filter(isMergedInClickHouse).map(({ id }) => id)
  await removeLost(deps.clickhouse, { businessId, events, unknown, merged })
  recovered.contacts += unknown.length + merged.length
  recovered.anonymous += returning.length
  return ids
}

async function saveEvents(
  deps: RecoverDeps,
  { businessId, recovered }: BusinessRecovery,
  { contacts, events }: { contacts: Different[]; events: LostEvent[] },
): Promise<void> {
  if (events.length === 0) return
  const members = new Map<string, Set<string>>()
  const addMember = (owner: string, id: string) => members.set(owner, (members.get(owner) ?? new Set([owner])).add(id))
  for (const { owner, contact_id } of events) addMember(owner, contact_id)
  for (const one of contacts.filter(isMergedInClickHouse)) addMember(survivorOf(one), one.id)
  const people = await readPeople(deps, businessId, new Map([...members].map(([owner, ids]) => [owner, [...ids]])))
  const places = new Map<string, number>()
  const lines = events.map((event) => {
    const place = places.get(event.owner) ?? 0
    places.set(event.owner, place + 1)
    return lineOf(event, people.get(event.owner), place)
  })
  await writeEvents(deps.directory, businessId, lines)
  const isUnidentified = ({ owner }: LostEvent) => Object.values(people.get(owner) ?? {}).flat().length === 0
  const file = fileOf(deps.directory, businessId)
  let summary = recovered.files.find((one) => one.businessId === businessId)
  if (!summary) recovered.files.push((summary = { businessId, file, events: 0, withoutIdentity: 0 }))
  summary.events += events.length
  summary.withoutIdentity += events.filter(isUnidentified).length
}

const survivorOf = ({ id, facts }: Different): string => facts.find(({ kind }) => kind === 'merge')?.clickhouse ?? id

async function recoverVisitors(
  deps: RecoverDeps,
  { businessId, recovered }: BusinessRecovery,
  different: Different[],
): Promise<string[]> {
  const ahead = different.filter(isVisitorAhead).map(({ id }) => id)
  await removeVisitors(deps.clickhouse, businessId, ahead)
  recovered.visitors += ahead.length
  return ahead
}

const isVisitorAhead = ({ isKnown, facts }: Different): boolean =>
  !isKnown ||
  facts.some(({ postgres, clickhouse }) => valuesOf(clickhouse).some((n, at) => n > (valuesOf(postgres)[at] ?? 0)))

const valuesOf = (value: string | null): number[] => value?.split(' ').map(Number) ?? []

function requireCompared({ unstable: [first, ...more] }: Comparison): void {
  if (first)
    throw new CommandError(
      'not_compared',
      `${more.length + 1} ${first.subject}s kept changing. Are all front doors and workers stopped?`,
    )
}

/** Resolves when all rows of the outbox are shipped and all erasures are finished in ClickHouse. */
async function waitUntilShipped(deps: RecoverDeps): Promise<void> {
  await waitUntilFewer(deps, {
    count: () => countWaiting(deps.sql),
    max: 0,
    describe: (left) => `waiting for ClickHouse: ${left} saves and erasures`,
    stalled: (left) =>
      `${left} saves and erasures wait for ClickHouse, and their number does not decrease. Check ClickHouse`,
  })
}

/** Excludes erased visits that wait for web workers, which will finish them. */
async function countWaiting(sql: Sql): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`
    select (select count(*)::int from outbox where shipped_at is null)
      + (select count(*)::int from erasures where deleted_at is null)
      + (
        select count(*)::int from erased_visits
        where deleted_at is null and not exists (select from positions where partition || ' ' || pending = any (behind))
      ) as rows`
  return row?.rows ?? 0
}
