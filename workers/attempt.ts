/** One attempt at a micro-batch: load, decide, and the save that writes all of it or nothing. */
import type { Logger } from 'pino'
import { uuidv7 } from 'uuidv7'
import type { ContactCache } from '../src/contacts/contact-cache.ts'
import { type ConfigCache, loadState } from '../src/contacts/load-state.ts'
import { type Saved, saveChanges } from '../src/contacts/save-changes.ts'
import { type Changes, emptyChanges } from '../src/rules/changes.ts'
import { decide } from '../src/rules/decide.ts'
import type { Decision } from '../src/rules/item.ts'
import type { State } from '../src/rules/state.ts'
import type { Sql } from '../src/stores/postgres.ts'
import { type DeadLetterRecord, composeUnreadable, replayedBy } from '../src/stream/compose-dead-letter.ts'
import type { MicroBatch } from '../src/stream/micro-batch.ts'
import { type Work, deadLetterOf } from './work.ts'

/** Time-ordered. Bun's own are flat strings; the library glues its together, character by character. */
const newId = 'Bun' in globalThis ? () => Bun.randomUUIDv7() : uuidv7

export interface PipelineDeps {
  sql: Sql
  log: Logger
  configs: ConfigCache
  /** The cache of a partition under this epoch; without one, contacts are always read. */
  contactsOf?: (partition: string, epoch: number) => ContactCache
  /** Told of each attempt that was written, and of each that had to be decided again. */
  metrics?: { saved?(events: number, seconds: number): void; conflict?(): void }
}

/** One micro-batch that is being applied. */
export interface Applying extends PipelineDeps {
  batch: MicroBatch
  signal: AbortSignal
  /** Called when something was found out of it. Trying again finds out nothing: what goes on so is to be taken for dead. */
  beat: () => void
}

/** One decided attempt: what it would write, and what it would answer. */
export interface Attempt {
  id: string
  state: State
  keysUnasked: boolean
  changes: Changes
  works: Work[]
  decisions: Map<Work, Decision>
  deadLetters: DeadLetterRecord[]
}

/**
 * Load and decide. An exception in a rule is the item's own fault: it is set aside, and the rest decided afresh. What is
 * decided with `contacts` may turn out stale when it is saved. Undefined when `signal` aborts.
 */
export async function decideAll(
  { sql, configs, batch, signal, beat }: Applying,
  works: Work[],
  dead: Map<Work, string>,
  contacts?: ContactCache,
): Promise<Attempt | undefined> {
  for (let cache = contacts; !signal.aborted; cache = undefined) {
    const live = works.filter((work) => !dead.has(work))
    const { state, keysUnasked } = await loadState(
      sql,
      configs,
      live.map((work) => work.item),
      cache,
    )
    const changes = emptyChanges()
    const decisions = new Map<Work, Decision>()
    const failed = live.find((work) => {
      try {
        decisions.set(work, decide({ state, changes, newId }, work.item))
        return false
      } catch (error) {
        dead.set(work, error instanceof Error ? error.message : String(error))
        // Where there is no business nothing was begun: the others need no fresh state.
        return state.businesses.has(work.item.businessId)
      }
    })
    // Perhaps it was a contact of the cache that was no longer so.
    if (failed && cache) dead.delete(failed)
    if (failed) {
      beat()
      continue
    }
    const deadLetters = [
      ...batch.poisoned.map(composeUnreadable),
      ...[...dead].map(([work, reason]) => deadLetterOf(work, reason)),
    ]
    return { id: newId(), state, keysUnasked, changes, works, decisions, deadLetters }
  }
  return undefined
}

export function saveAttempt({ sql, batch }: Applying, attempt: Attempt, dryRun = false): Promise<Saved> {
  return saveChanges(sql, { ...batch, ...attempt, attempt: attempt.id, dryRun, replayed: replayedBy(batch) })
}
