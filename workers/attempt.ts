/** One attempt at a micro-batch: load, decide, and the save that writes all of it or nothing. */
import type { Logger } from 'pino'
import { uuidv7 } from 'uuidv7'
import type { ContactCache } from '../src/contacts/contact-cache.ts'
import { type ConfigCache, loadState } from '../src/contacts/load-state.ts'
import { type Saved, saveChanges } from '../src/contacts/save-changes.ts'
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
  knownId,
  replayedBy,
} from '../src/stream/compose-dead-letter.ts'
import type { MicroBatch } from '../src/stream/micro-batch.ts'
import { type Suspects, type SuspectsOf } from './suspects.ts'
import type { TimeLimit } from './time-limit.ts'
import { type Work, contactKeyOf, deadLetterOf } from './work.ts'

/** Time-ordered. Bun's own are flat strings; the library glues its together, character by character. */
const newId = 'Bun' in globalThis ? () => Bun.randomUUIDv7() : uuidv7

export interface PipelineDeps {
  sql: Sql
  /** For dry runs: its statements are cancelled after DRY_RUN_MS. Without one, `sql` serves. */
  dryRuns?: Sql
  log: Logger
  configs: ConfigCache
  /** The cache of a partition under this epoch; without one, contacts are always read. */
  contactsOf?: (partition: string, epoch: number) => ContactCache
  /** Whose items have failed lately; without it, every search begins anew. */
  suspectsOf?: SuspectsOf
  /** How long a search for poison may take; SEARCH_MS when left out. */
  searchMs?: number
  /** Called for each attempt that was written, and for each that had to be decided again. */
  metrics?: { saved?(events: number, seconds: number): void; conflict?(): void }
}

/** One micro-batch that is being applied. */
export interface Applying extends PipelineDeps {
  batch: MicroBatch
  signal: AbortSignal
  /** Called when something was found out of it. Trying again finds out nothing: what goes on so is to be taken for dead. */
  beat: () => void
  /** For the search for poison; it begins with the first fault. */
  timeLimit: TimeLimit
  suspects?: Suspects
}

/** Before a micro-batch is tried again. */
export const AGAIN = { firstMs: 10, maxMs: 2000 }

/** Why an item is set aside. */
export interface WorkFailure {
  reason: string
  /** See DeadLetterRecord. */
  suspect: string | null
}

/** One decided attempt: what it would write, and what it would answer. */
export interface Attempt {
  id: string
  state: State
  keysAssumedNew: boolean
  changes: Changes
  works: Work[]
  decisions: Map<Work, Decision>
  /** Of businesses that were inactive: they are set aside, too. The save asserts that they still are. */
  inactive: ReadonlySet<Work>
  deadLetters: DeadLetterRecord[]
}

/**
 * Load and decide. An exception in a rule is the item's own fault: it is set aside, and the rest decided afresh. What is
 * decided with `contacts` may turn out stale when it is saved. Undefined when `signal` aborts.
 */
export async function decideAll(
  applying: Applying,
  works: Work[],
  dead: Map<Work, WorkFailure>,
  contacts?: ContactCache,
): Promise<Attempt | undefined> {
  const { sql, configs, batch, signal, beat } = applying
  const inFull = new Set<string>()
  for (let cache = contacts; !signal.aborted; cache = undefined) {
    const live = works.filter((work) => !dead.has(work))
    const read = inFull.size
    const { state, keysAssumedNew } = await loadState(
      sql,
      configs,
      live.map((work) => work.item),
      cache,
      [...inFull],
      [...dead.keys()].flatMap(({ item }) => knownId(item.businessId) ?? []),
    )
    const { served, inactive } = sortOut(state, works, dead)
    const changes = emptyChanges()
    const decisions = new Map<Work, Decision>()
    let reason = ''
    const failed = served.find((work) => {
      try {
        decisions.set(work, decide({ state, changes, newId }, work.item))
        return false
      } catch (error) {
        if (error instanceof UnreadError) for (const id of error.contactIds) inFull.add(id)
        // Decided again, with all that is found to be missing on the way.
        if (inFull.size > read) return false
        reason = error instanceof Error ? error.message : String(error)
        return true
      }
    })
    if (inFull.size > read) continue
    if (failed) {
      // Perhaps it was a contact of the cache that was no longer so.
      if (!cache) setAsideThrown(applying, served, failed, reason, dead)
      beat()
      continue
    }
    const deadLetters = [
      ...batch.poisoned.map(composeUnreadable),
      ...[...dead].flatMap(([work, { reason, suspect }]) =>
        inactive.has(work) ? [] : [deadLetterOf(work, reason, suspect)],
      ),
      ...[...inactive].map((work) => deadLetterOf(work, INACTIVE)),
    ]
    return { id: newId(), state, keysAssumedNew, changes, works, decisions, inactive, deadLetters }
  }
  return undefined
}

/** Of a business that does not exist, or is inactive, nothing is decided, whatever else is wrong with its items. */
function sortOut(state: State, works: Work[], dead: Map<Work, WorkFailure>): { served: Work[]; inactive: Set<Work> } {
  const inactive = new Set<Work>()
  const served = works.filter((work) => {
    const business = state.businesses.get(work.item.businessId)
    if (business && !business.active) inactive.add(work)
    if (dead.has(work)) return false
    if (!business) dead.set(work, { reason: 'the business does not exist', suspect: null })
    return business?.active
  })
  return { served, inactive }
}

/** Each exception costs a load of all: when there are very many, the rest of the business is not tried. */
function setAsideThrown(
  { timeLimit }: Applying,
  served: Work[],
  failed: Work,
  reason: string,
  dead: Map<Work, WorkFailure>,
): void {
  timeLimit.begin()
  const { businessId } = failed.item
  if (!timeLimit.isOver()) return void dead.set(failed, { reason, suspect: contactKeyOf(failed) })
  for (const work of served) if (work.item.businessId === businessId) dead.set(work, { reason, suspect: businessId })
}

export function saveAttempt({ sql, batch }: Applying, attempt: Attempt): Promise<Saved> {
  return saveChanges(sql, { ...batch, ...attempt, attempt: attempt.id, dryRun: false, replayed: replayedBy(batch) })
}

/** Throws what is wrong with its changes, or DRY_RUN. Dead letters are no part of it: they fail no save, and cost much. */
export function tryAttempt({ sql, batch }: Applying, attempt: Attempt): Promise<Saved> {
  return saveChanges(sql, { ...batch, ...attempt, attempt: attempt.id, dryRun: true, deadLetters: [], replayed: [] })
}
