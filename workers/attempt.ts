/** One attempt at a micro-batch: load, decide, and a save that writes all of it or nothing. */
import type { Logger } from 'pino'
import { uuidv7 } from 'uuidv7'
import type { ContactCache } from '../src/contacts/load/contact-cache.ts'
import type { ConfigCache } from '../src/contacts/load/load-businesses.ts'
import { loadState } from '../src/contacts/load/load-state.ts'
import { type SaveResult, saveChanges } from '../src/contacts/save/save-changes.ts'
import { type Changes, emptyChanges } from '../src/rules/changes.ts'
import { decide } from '../src/rules/decide.ts'
import type { Decision } from '../src/rules/item.ts'
import { UnreadError } from '../src/rules/limits.ts'
import type { State } from '../src/rules/state.ts'
import type { Sql } from '../src/stores/postgres.ts'
import {
  type DeadLetterRecord,
  INACTIVE,
  composeUnreadable,
  uuidOrNull,
  replayedBy,
} from '../src/stream/compose-dead-letter.ts'
import { deriveIds } from '../src/stream/derive-ids.ts'
import type { MicroBatch } from '../src/stream/micro-batch.ts'
import { type Suspects, type LoadSuspects } from './suspects.ts'
import type { TimeLimit } from './time-limit.ts'
import { type Work, contactKeyOf, deadLetterOf } from './work.ts'

/** Time-ordered ids. Bun's ids are flat strings; the library concatenates its ids character by character. */
const newId = 'Bun' in globalThis ? () => Bun.randomUUIDv7() : uuidv7

export interface PipelineDeps {
  sql: Sql
  /** Connections for dry runs, whose statements are cancelled after DRY_RUN_MS. Default: `sql`. */
  dryRuns?: Sql
  log: Logger
  configs: ConfigCache
  /** Returns the cache of a partition under this epoch. Default: contacts are always read. */
  contactsOf?: (partition: string, epoch: number) => ContactCache
  /** Loads the contacts and businesses whose items failed recently. Default: each search starts from scratch. */
  suspectsOf?: LoadSuspects
  /** Returns epoch milliseconds. Default: the clock. */
  now?: () => number
  /** Time limit in milliseconds of a search for poisoned items. Default: SEARCH_MS. */
  searchMs?: number
  /** `saved` is called for each attempt that was written, `conflict` for each that is decided again. */
  metrics?: { saved?(events: number, seconds: number): void; conflict?(): void }
}

/** The state of one micro-batch that is being applied. */
export interface ApplyContext extends PipelineDeps {
  batch: MicroBatch
  signal: AbortSignal
  /** The heartbeat: called on progress. A mere retry is not progress, so a batch that only retries counts as stuck. */
  beat: () => void
  /** Time limit of the search for poisoned items. It starts with the first fault. */
  timeLimit: TimeLimit
  suspects?: Suspects
}

/** Delay before a micro-batch is tried again. */
export const RETRY_BACKOFF = { firstMs: 10, maxMs: 2000 }

/** The reason why an item is set aside. */
export interface WorkFailure {
  reason: string
  /** See DeadLetterRecord. */
  suspect: string | null
}

/** The changes and answers that an attempt would produce. */
export interface DecidedBatch {
  id: string
  state: State
  keysAssumedNew: boolean
  changes: Changes
  works: Work[]
  decisions: Map<Work, Decision>
  /** Items of inactive businesses. They are set aside, too. The save checks that the businesses are still inactive. */
  inactive: ReadonlySet<Work>
}

/** One attempt to save a micro-batch. */
export interface Attempt extends DecidedBatch {
  deadLetters: DeadLetterRecord[]
}

/**
 * Loads the state and decides. If an item makes a rule throw, sets it aside and decides the others again. With
 * `contacts`, the save may find that the decision was stale. Returns undefined when `signal` aborts.
 */
export async function decideAll(
  context: ApplyContext,
  works: Work[],
  rejected: Map<Work, WorkFailure>,
  contacts?: ContactCache,
): Promise<DecidedBatch | undefined> {
  const { sql, configs, signal, beat } = context
  const inFull = new Set<string>()
  for (let cache = contacts; !signal.aborted; cache = undefined) {
    const live = works.filter((work) => !rejected.has(work))
    const read = inFull.size
    const { state, keysAssumedNew } = await loadState(
      sql,
      configs,
      live.map((work) => work.item),
      cache,
      [...inFull],
      [...rejected.keys()].flatMap(({ item }) => uuidOrNull(item.businessId) ?? []),
    )
    const { served, inactive } = sortOut(state, works, rejected)
    const changes = emptyChanges()
    const decisions = new Map<Work, Decision>()
    const decidedAt = (context.now ?? Date.now)()
    let reason = ''
    const failed = served.find((work) => {
      try {
        decisions.set(work, decide({ state, changes, newId: deriveIds(work.place), decidedAt }, work.item))
        return false
      } catch (error) {
        if (error instanceof UnreadError) for (const id of error.contactIds) inFull.add(id)
        // Collects all missing parts first, then decides everything again.
        if (inFull.size > read) return false
        reason = error instanceof Error ? error.message : String(error)
        return true
      }
    })
    if (inFull.size > read) continue
    if (failed) {
      // A stale contact in the cache may be the cause, so decide again without the cache.
      if (!cache) setAsideThrown(context, served, failed, reason, rejected)
      beat()
      continue
    }
    return { id: newId(), state, keysAssumedNew, changes, works, decisions, inactive }
  }
  return undefined
}

/** Composes the dead letters of a decided batch. They contain whole requests, so a dry run does not compose them. */
export function composeDeadLetters(
  batch: MicroBatch,
  rejected: Map<Work, WorkFailure>,
  { inactive }: DecidedBatch,
): DeadLetterRecord[] {
  return [
    ...batch.poisoned.map(composeUnreadable),
    ...[...rejected].flatMap(([work, { reason, suspect }]) =>
      inactive.has(work) ? [] : [deadLetterOf(work, reason, suspect)],
    ),
    ...[...inactive].map((work) => deadLetterOf(work, INACTIVE)),
  ]
}

/** Excludes items of businesses that do not exist or are inactive. */
function sortOut(
  state: State,
  works: Work[],
  rejected: Map<Work, WorkFailure>,
): { served: Work[]; inactive: Set<Work> } {
  const inactive = new Set<Work>()
  const served = works.filter((work) => {
    const business = state.businesses.get(work.item.businessId)
    if (business && !business.active) inactive.add(work)
    if (rejected.has(work)) return false
    if (!business) rejected.set(work, { reason: 'the business does not exist', suspect: null })
    return business?.active
  })
  return { served, inactive }
}

/**
 * Each exception costs another load. After the time limit, the remaining items of the business are set aside untried.
 */
function setAsideThrown(
  { timeLimit }: ApplyContext,
  served: Work[],
  failed: Work,
  reason: string,
  rejected: Map<Work, WorkFailure>,
): void {
  timeLimit.begin()
  const { businessId } = failed.item
  if (!timeLimit.isOver()) return void rejected.set(failed, { reason, suspect: contactKeyOf(failed) })
  for (const work of served)
    if (work.item.businessId === businessId) rejected.set(work, { reason, suspect: businessId })
}

export function saveAttempt({ sql, batch }: ApplyContext, attempt: Attempt): Promise<SaveResult> {
  return saveChanges(sql, { ...batch, ...attempt, attempt: attempt.id, dryRun: false, replayed: replayedBy(batch) })
}

/** Throws the error of the save, or DRY_RUN when it would succeed. Omits dead letters, which never fail. */
export function tryAttempt({ sql, batch }: ApplyContext, attempt: DecidedBatch): Promise<SaveResult> {
  return saveChanges(sql, { ...batch, ...attempt, attempt: attempt.id, dryRun: true, deadLetters: [], replayed: [] })
}
