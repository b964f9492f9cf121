import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { Sql } from '../../stores/postgres.ts'
import { runTimeline } from '../../timeline/run-timeline.ts'
import type { CompareDeps, Different } from './compare-one-by-one.ts'
import type { FactKind, Subject } from './facts.ts'
import { restoreKeys, type MissingKey } from './check-keys.ts'
import { correctPostgres } from './correct-postgres.ts'
import { concernsEvents, withMerged } from './explain.ts'
import { findAhead } from './find-ahead.ts'
import { findInOutbox } from './find-in-outbox.ts'
import { findLost } from './find-lost.ts'
import type { Findings } from './inspect.ts'
import { diagnosePostgres } from './diagnose-postgres.ts'
import { countAsked, eraseAgain, sendContactsAgain, sendCopiesAgain, sendRowsAgain } from './send-again.ts'
import { sendVisitorsAgain } from './send-visitors-again.ts'
import { waitUntilFewer } from './wait-until-fewer.ts'

export interface RepairDeps extends CompareDeps {
  /** By the clock of Postgres. */
  startedAt: Date
  /** May write. */
  writer: Sql
  log: Logger
  config: Pick<Config, 'leaseMs'>
}

/** What was asked of the shipper. */
export interface ResyncRequest {
  /** Rows of the outbox of which ClickHouse lacked something. */
  saves: number
  /** Events that were there in several copies. */
  copies: number
  /** Contacts whose snapshots and statistics are made anew. */
  contacts: number
  /** Visitors who are sent again with whose they were and what brought them. */
  visitors: number
  erasures: number
  /** Contacts whose figures or identities were altered in Postgres. */
  corrected: number
  /** Idempotency keys that Postgres lacked. */
  keys: number
}

/** Asked for and not done, at most: what waits in the outbox is read by every look at a timeline. */
const MOST_ASKED = 100
/** As long as a date of Postgres can bear. */
const FOR_EVER = 99_999 * 86_400_000

/**
 * Runs the shipper beside a repair: where workers run it stands by, and one of theirs does the work; where none does it
 * is this one. Any number may run (timeline/lease.ts).
 */
export async function withShipper<Result>(deps: RepairDeps, work: () => Promise<Result>): Promise<Result> {
  const stopping = new AbortController()
  const { writer: sql, clickhouse, log, config } = deps
  // How long the outbox keeps is the workers' to know: this one purges nothing.
  const shipping = runTimeline(
    { sql, clickhouse, log, config: { ...config, outboxKeepMs: FOR_EVER, anonymousKeepMs: FOR_EVER } },
    stopping.signal,
  )
  try {
    return await work()
  } finally {
    stopping.abort()
    await shipping
  }
}

/**
 * What can be asked for as soon as some are known to differ. Contacts of which ClickHouse is ahead are left alone: what it has
 * of them is all that is left of what Postgres lost.
 */
export async function repairSome(
  deps: RepairDeps,
  of: Subject,
  businessId: string,
  different: Different[],
): Promise<Partial<ResyncRequest>> {
  const ahead = await findAhead(deps, businessId, different)
  const known = different.filter(({ isKnown, id }) => isKnown && !ahead.has(id))
  const asked = await (of === 'contact' ? repairContacts : repairVisitors)(deps, businessId, known)
  await waitUntilRequested(deps, MOST_ASKED)
  return asked
}

async function repairContacts(
  deps: RepairDeps,
  businessId: string,
  known: Different[],
): Promise<Partial<ResyncRequest>> {
  // Before anything is sent again: what is sent is Postgres' word.
  const corrected = await correctPostgres(deps.writer, businessId, await diagnosePostgres(deps, known))
  const doubled = known.filter((one) => differsIn(one, ['doubled']))
  const isCorrected = new Set(corrected)
  const stale = known.filter((one) => differsIn(one, ['contact', 'merge', 'statistics']) || isCorrected.has(one.id))
  const ids = await withMerged(deps.sql, stale)
  const revisions = new Map(stale.map((one) => [one.id, revisionInClickHouse(one)]))
  const contacts = [...ids.keys()].map((id) => ({ id, revision: revisions.get(id) ?? 0 }))
  return {
    corrected: corrected.length,
    copies: await repairCopies(deps, businessId, doubled),
    contacts: await sendContactsAgain(deps.writer, businessId, contacts),
  }
}

/** Not those of events that Postgres lost: with its key such an event could not be recorded again. */
export async function repairKeys(
  deps: RepairDeps,
  businessId: string,
  missing: MissingKey[],
): Promise<Partial<ResyncRequest>> {
  const contacts = [...new Set(missing.map(({ contactId }) => contactId))]
  const lost = new Set((await findLost(deps, businessId, contacts)).map(({ event_id }) => event_id))
  const restored = missing.filter(({ eventId }) => !lost.has(eventId))
  return { keys: await restoreKeys(deps.writer, businessId, restored) }
}

async function repairVisitors(
  deps: RepairDeps,
  businessId: string,
  known: Different[],
): Promise<Partial<ResyncRequest>> {
  const ids = known.map(({ id }) => id)
  return { visitors: await sendVisitorsAgain({ sql: deps.writer, clickhouse: deps.clickhouse }, businessId, ids) }
}

const differsIn = ({ facts }: Different, kinds: FactKind[]): boolean => facts.some(({ kind }) => kinds.includes(kind))

const revisionInClickHouse = ({ facts }: Different): number =>
  Number(facts.find(({ kind }) => kind === 'contact')?.clickhouse?.split(' ')[0] ?? 0)

/** Contacts in one question. */
const BATCH = 200

async function repairCopies(deps: RepairDeps, businessId: string, doubled: Different[]): Promise<number> {
  let copies = 0
  for (let at = 0; at < doubled.length; at += BATCH) {
    const ids = await withMerged(deps.sql, doubled.slice(at, at + BATCH))
    copies += await sendCopiesAgain({ sql: deps.writer, clickhouse: deps.clickhouse }, businessId, [...ids.keys()])
    await waitUntilRequested(deps, MOST_ASKED)
  }
  return copies
}

/** One walk through the outbox for everything that was found: for these contacts, or for all when they were too many. */
export async function repairEvents(deps: RepairDeps, findings: Findings): Promise<Partial<ResyncRequest>> {
  const lacking = findings.different.filter((one) => one.isKnown && concernsEvents(one))
  const isAll = findings.differing > findings.different.length
  if (lacking.length === 0 && !isAll) return {}
  const ids = isAll ? undefined : [...(await withMerged(deps.sql, lacking)).keys()]
  let saves = 0
  for await (const rows of findInOutbox(deps, ids)) {
    const wanted = rows.filter((row) => row.lacking.length > 0).map(({ id }) => id)
    saves += wanted.length > 0 ? await sendRowsAgain(deps.writer, wanted) : 0
    await waitUntilRequested(deps, MOST_ASKED)
  }
  return { saves }
}

export async function repairErasures(deps: RepairDeps, { others }: Findings): Promise<Partial<ResyncRequest>> {
  let erasures = 0
  const leftOver = others.filter(({ kind }) => kind === 'erasure')
  for (const [businessId, left] of Map.groupBy(leftOver, (one) => one.businessId ?? ''))
    erasures += await eraseAgain(
      deps.writer,
      businessId,
      left.map(({ contactId }) => contactId ?? ''),
    )
  return { erasures }
}

/** Resolves when at most `max` requested repairs are not done. Throws CommandError when nothing moves. */
export async function waitUntilRequested(deps: RepairDeps, max: number): Promise<void> {
  await waitUntilFewer(deps, {
    count: () => countAsked(deps.sql, deps.startedAt),
    max,
    describe: (left) => `${left} repairs in progress`,
    stalled: (left) => `${left} repairs are requested but not done. Check ClickHouse; they continue when it works`,
  })
}
