/**
 * A fault of data fails a whole micro-batch: finds the items that it comes from, by dry runs. Nothing is written meanwhile;
 * the rest then goes through in one save with the dead letters.
 */
import { DRY_RUN } from '../src/contacts/save-changes.ts'
import { faultKind, isStatementTimeout, isUniqueViolation } from '../src/stores/postgres.ts'
import { type Applying, type WorkFailure, decideAll, tryAttempt } from './attempt.ts'
import { backoffMs } from '../src/async/backoff.ts'
import { sleep } from '../src/async/sleep.ts'
import { AGAIN } from './attempt.ts'
import { type Poison, searchPoisoned } from './search-poisoned.ts'
import { suspectKey } from './suspects.ts'
import { type Work, contactKeyOf } from './work.ts'

/** The search within businesses and contacts. Which businesses are guilty is found out in any case, as a rule in two dry runs. */
export const SEARCH_MS = 1000
/** A statement of a dry run. */
const DRY_RUN_MS = 1000
/** Of its session. A dry run that waits for a lock says nothing of its items: that is an error of its own, and earlier. */
export const DRY_RUN_SETTINGS = { statement_timeout: String(DRY_RUN_MS), lock_timeout: String(DRY_RUN_MS / 2) }
/** The statement of a probe, which costs nothing, where Postgres is well. */
const PROBE_MS = 100
/** Unique violations that some may have before they are taken to be their own; other conflicts are always others' doing. */
const VIOLATIONS_OF_ONE = 20

/**
 * @param works the items not yet set aside
 * @param isKnownToFail they were seen to fail together by a fault of data
 * @returns those with which the batch cannot be saved, and why; none when all of them go through after all. Of no meaning
 *   once `signal` aborted
 */
export async function findPoisoned(
  applying: Applying,
  works: Work[],
  isKnownToFail: boolean,
): Promise<Map<Work, WorkFailure>> {
  const { timeLimit, suspects } = applying
  timeLimit.begin()
  const poisoned = await searchPoisoned(
    works,
    {
      faultOf: async (some) => {
        // What is left of the search is of no meaning, and asks nothing more.
        if (applying.signal.aborted) return null
        applying.beat()
        return await faultOf(applying, some)
      },
      businessOf: (work) => suspectKey(work.item.businessId),
      contactOf: contactKeyOf,
      isSuspect: (key) => suspects?.isSuspect(key) ?? false,
      isLate: () => timeLimit.isOver(),
    },
    isKnownToFail,
  )
  return new Map([...poisoned].map(([work, poison]) => [work, deathOf(work, poison)]))
}

/** Those that are not worth trying now, since their contact or business keeps failing. */
export function findGivenUp({ suspects }: Applying, works: Work[]): Map<Work, WorkFailure> {
  const isGivenUp = (work: Work) => suspects?.isGivenUp(contactKeyOf(work)) || suspects?.isGivenUp(work.item.businessId)
  const reason = 'its contact or business keeps failing: not tried'
  return new Map(works.filter(isGivenUp).map((work) => [work, { reason, suspect: null }]))
}

const deathOf = (work: Work, { reason, scope }: Poison): WorkFailure => ({
  reason,
  suspect: scope === 'business' ? work.item.businessId : contactKeyOf(work),
})

/** What is wrong with these items together; null when they would go through. Waits for trouble to pass, or `signal`. */
async function faultOf(applying: Applying, works: Work[]): Promise<string | null> {
  const { configs, signal, timeLimit, dryRuns = applying.sql } = applying
  for (let tries = 0, violations = 0; !signal.aborted; tries += 1) {
    const began = performance.now()
    try {
      // Exceptions of rules are not looked for here: the next attempt finds them by itself.
      const attempt = await decideAll({ ...applying, sql: dryRuns }, works, new Map())
      if (attempt) await tryAttempt({ ...applying, sql: dryRuns }, attempt)
      return null
    } catch (error) {
      if (isDryRun(error)) return null
      if (isUniqueViolation(error)) violations += 1
      if (faultKind(error) === 'data' || violations > VIOLATIONS_OF_ONE) return messageOf(error)
      if (isStatementTimeout(error) && (await isApplied(applying)))
        return `a save of it takes longer than ${DRY_RUN_MS} ms`
      configs.clear()
      const isConflict = faultKind(error) === 'conflict'
      await sleep(backoffMs(isConflict ? Math.min(tries, 4) + 1 : tries + 1, AGAIN), signal)
      if (!isConflict) timeLimit.extend(performance.now() - began)
    }
  }
  return null
}

/**
 * Postgres answers at once: what takes long there takes long by itself. Waiting for a lock is an error of its own. The probe
 * goes where saves go: it does not wait behind the dry runs of other partitions.
 */
export async function isApplied({ sql, batch }: Pick<Applying, 'sql' | 'batch'>): Promise<boolean> {
  const began = performance.now()
  try {
    await sql`select from positions where partition = ${batch.partition}`
  } catch {
    return false
  }
  return performance.now() - began < PROBE_MS
}

const isDryRun = (error: unknown) => error instanceof Error && 'code' in error && error.code === DRY_RUN

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
