import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { Sql } from '../../stores/postgres.ts'
import { runTimeline } from '../../timeline/run-timeline.ts'
import type { CompareDeps, Different } from './compare-one-by-one.ts'
import type { FactKind, Subject } from './facts.ts'
import { restoreKeys, type MissingKey } from './check-keys.ts'
import { correctPostgres } from './correct-postgres.ts'
import { concernsEvents, withMergedIds } from './describe-differences.ts'
import { findAhead } from './find-ahead.ts'
import { findInOutbox } from './find-in-outbox.ts'
import { findLost } from './find-lost.ts'
import type { Findings } from './inspect.ts'
import { diagnosePostgres } from './diagnose-postgres.ts'
import { countPending, eraseAgain, resendContacts, resendDoubled, resendRows } from './resend.ts'
import { resendVisitors } from './resend-visitors.ts'
import { waitUntilFewer } from './wait-until-fewer.ts'

export interface RepairDeps extends CompareDeps {
  /** When the command started, by the clock of Postgres. */
  startedAt: Date
  /** A connection that may write. */
  writer: Sql
  log: Logger
  config: Pick<Config, 'leaseMs'>
}

/** Numbers of requested repairs. */
export interface RepairCounts {
  /** Rows of the outbox with events that ClickHouse lacked. */
  saves: number
  /** Events of which ClickHouse had several copies. */
  copies: number
  /** Contacts whose snapshots and statistics are rewritten. */
  contacts: number
  /** Visitors that are sent again with their links and touches. */
  visitors: number
  erasures: number
  /** Contacts whose figures or identities were corrected in Postgres. */
  corrected: number
  /** Idempotency keys that were restored in Postgres. */
  keys: number
}

/** The most repairs that are requested and not done: each read of a timeline also reads what waits in the outbox. */
const MAX_PENDING = 100
/** As long as a Postgres date allows. */
const FOR_EVER = 99_999 * 86_400_000

/**
 * Runs a shipper during a repair. Where workers run, one of theirs has the lease and does the work, and this one waits;
 * otherwise this one does it. Any number of shippers may run (timeline/lease.ts).
 */
export async function withShipper<Result>(deps: RepairDeps, work: () => Promise<Result>): Promise<Result> {
  const stopping = new AbortController()
  const { writer: sql, clickhouse, log, config } = deps
  // Only the workers know how long the outbox keeps rows: this shipper purges nothing.
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
 * Requests the repairs that are possible as soon as some contacts or visitors are known to differ. Does not touch contacts of
 * which ClickHouse is ahead: it has the only copy of what Postgres lost.
 */
export async function repairSome(
  deps: RepairDeps,
  subject: Subject,
  businessId: string,
  different: Different[],
): Promise<Partial<RepairCounts>> {
  const ahead = await findAhead(deps, businessId, different)
  const known = different.filter(({ isKnown, id }) => isKnown && !ahead.has(id))
  const requested = await (subject === 'contact' ? repairContacts : repairVisitors)(deps, businessId, known)
  await waitUntilRepaired(deps, MAX_PENDING)
  return requested
}

async function repairContacts(
  deps: RepairDeps,
  businessId: string,
  known: Different[],
): Promise<Partial<RepairCounts>> {
  // Correct Postgres first: what is sent again comes from Postgres.
  const corrected = await correctPostgres(deps.writer, businessId, await diagnosePostgres(deps, known))
  const doubled = known.filter((one) => differsIn(one, ['doubled']))
  const isCorrected = new Set(corrected)
  const stale = known.filter((one) => differsIn(one, ['contact', 'merge', 'statistics']) || isCorrected.has(one.id))
  const ids = await withMergedIds(deps.sql, stale)
  const revisions = new Map(stale.map((one) => [one.id, revisionInClickHouse(one)]))
  const contacts = [...ids.keys()].map((id) => ({ id, revision: revisions.get(id) ?? 0 }))
  return {
    corrected: corrected.length,
    copies: await repairCopies(deps, businessId, doubled),
    contacts: await resendContacts(deps.writer, businessId, contacts),
  }
}

/** Restores keys, except those of events that Postgres lost: with its key, such an event could not be recorded again. */
export async function repairKeys(
  deps: RepairDeps,
  businessId: string,
  missing: MissingKey[],
): Promise<Partial<RepairCounts>> {
  const contacts = [...new Set(missing.map(({ contactId }) => contactId))]
  const lost = new Set((await findLost(deps, businessId, contacts)).map(({ event_id }) => event_id))
  const restored = missing.filter(({ eventId }) => !lost.has(eventId))
  return { keys: await restoreKeys(deps.writer, businessId, restored) }
}

async function repairVisitors(
  deps: RepairDeps,
  businessId: string,
  known: Different[],
): Promise<Partial<RepairCounts>> {
  const ids = known.map(({ id }) => id)
  return { visitors: await resendVisitors({ sql: deps.writer, clickhouse: deps.clickhouse }, businessId, ids) }
}

const differsIn = ({ facts }: Different, kinds: FactKind[]): boolean => facts.some(({ kind }) => kinds.includes(kind))

const revisionInClickHouse = ({ facts }: Different): number =>
  Number(facts.find(({ kind }) => kind === 'contact')?.clickhouse?.split(' ')[0] ?? 0)

/** Contacts per query. */
const BATCH = 200

async function repairCopies(deps: RepairDeps, businessId: string, doubled: Different[]): Promise<number> {
  let copies = 0
  for (let at = 0; at < doubled.length; at += BATCH) {
    const ids = await withMergedIds(deps.sql, doubled.slice(at, at + BATCH))
    copies += await resendDoubled({ sql: deps.writer, clickhouse: deps.clickhouse }, businessId, [...ids.keys()])
    await waitUntilRepaired(deps, MAX_PENDING)
  }
  return copies
}

/** Walks once through the outbox, for the contacts that differ, or for all contacts when too many differ to be kept. */
export async function repairEvents(deps: RepairDeps, findings: Findings): Promise<Partial<RepairCounts>> {
  const lacking = findings.different.filter((one) => one.isKnown && concernsEvents(one))
  const isAll = findings.differing > findings.different.length
  if (lacking.length === 0 && !isAll) return {}
  const ids = isAll ? undefined : [...(await withMergedIds(deps.sql, lacking)).keys()]
  let saves = 0
  for await (const rows of findInOutbox(deps, ids)) {
    const wanted = rows.filter((row) => row.lacking.length > 0).map(({ id }) => id)
    saves += wanted.length > 0 ? await resendRows(deps.writer, wanted) : 0
    await waitUntilRepaired(deps, MAX_PENDING)
  }
  return { saves }
}

export async function repairErasures(deps: RepairDeps, { others }: Findings): Promise<Partial<RepairCounts>> {
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
export async function waitUntilRepaired(deps: RepairDeps, max: number): Promise<void> {
  await waitUntilFewer(deps, {
    count: () => countPending(deps.sql, deps.startedAt),
    max,
    describe: (left) => `${left} repairs in progress`,
    stalled: (left) => `${left} repairs are requested but not done. Check ClickHouse; they continue when it works`,
  })
}
