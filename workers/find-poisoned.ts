/**
 * Finds items with faulty data by dry runs, which write nothing. One such item would fail its whole micro-batch. The
 * other items and the dead letters are then written in one save.
 */
import { DRY_RUN } from '../src/contacts/save/save-changes.ts'
import { faultKind, isStatementTimeout, isUniqueViolation } from '../src/stores/postgres.ts'
import { type ApplyContext, type WorkFailure, decideAll, tryAttempt } from './attempt.ts'
import { backoffMs } from '../src/async/backoff.ts'
import { sleep } from '../src/async/sleep.ts'
import { RETRY_BACKOFF } from './attempt.ts'
import { type Poison, searchPoisoned } from './search-poisoned.ts'
import { suspectKey } from './suspects.ts'
import { type Work, contactKeyOf } from './work.ts'

/**
 * Time limit of the search within businesses and contacts. The failing businesses are always found, usually with two
 * dry runs.
 */
export const SEARCH_MS = 1000
/** Time limit of one statement of a dry run. */
const DRY_RUN_MS = 1000
/**
 * Session settings of dry runs. Waiting for a lock is not the fault of the items, so it fails earlier, with a different
 * error.
 */
export const DRY_RUN_SETTINGS = { statement_timeout: String(DRY_RUN_MS), lock_timeout: String(DRY_RUN_MS / 2) }
/** A healthy Postgres answers the probe, a cheap statement, within this time. */
const PROBE_MS = 100
/**
 * After this many unique violations, the items themselves are considered the cause. Other saves cause all other
 * conflicts.
 */
const MAX_UNIQUE_VIOLATIONS = 20

/**
 * Finds the items with which the batch cannot be saved.
 *
 * @param works the items that are not set aside yet
 * @param isKnownToFail whether a save of all of them has failed because of data
 * @returns the failing items with the reasons; empty when all pass. Meaningless after `signal` has aborted
 */
export async function findPoisoned(
  context: ApplyContext,
  works: Work[],
  isKnownToFail: boolean,
): Promise<Map<Work, WorkFailure>> {
  const { timeLimit, suspects } = context
  timeLimit.begin()
  const poisoned = await searchPoisoned(
    works,
    {
      faultOf: async (some) => {
        // The result no longer matters, so the search ends without further dry runs.
        if (context.signal.aborted) return null
        context.beat()
        return await faultOf(context, some)
      },
      businessOf: (work) => suspectKey(work.item.businessId),
      contactOf: contactKeyOf,
      isSuspect: (key) => suspects?.isSuspect(key) ?? false,
      isLate: () => timeLimit.isOver(),
    },
    isKnownToFail,
  )
  return new Map([...poisoned].map(([work, poison]) => [work, toFailure(work, poison)]))
}

/** Returns the items that are not tried now, because their contact or business keeps failing. */
export function findQuarantined({ suspects }: ApplyContext, works: Work[]): Map<Work, WorkFailure> {
  const isSkipped = (work: Work) =>
    suspects?.isQuarantined(contactKeyOf(work)) || suspects?.isQuarantined(work.item.businessId)
  const reason = 'its contact or business keeps failing: not tried'
  return new Map(works.filter(isSkipped).map((work) => [work, { reason, suspect: null }]))
}

const toFailure = (work: Work, { reason, scope }: Poison): WorkFailure => ({
  reason,
  suspect: scope === 'business' ? work.item.businessId : contactKeyOf(work),
})

/**
 * Returns the reason why these items cannot be saved together; null when they can. Retries errors of Postgres until
 * `signal` aborts.
 */
async function faultOf(context: ApplyContext, works: Work[]): Promise<string | null> {
  const { configs, signal, timeLimit, dryRuns = context.sql } = context
  for (let tries = 0, violations = 0; !signal.aborted; tries += 1) {
    const began = performance.now()
    try {
      // Exceptions of rules are ignored here, because the next attempt finds them.
      const attempt = await decideAll({ ...context, sql: dryRuns }, works, new Map())
      if (attempt) await tryAttempt({ ...context, sql: dryRuns }, attempt)
      return null
    } catch (error) {
      if (isDryRun(error)) return null
      if (isUniqueViolation(error)) violations += 1
      if (faultKind(error) === 'data' || violations > MAX_UNIQUE_VIOLATIONS) return messageOf(error)
      if (isStatementTimeout(error) && (await isResponsive(context)))
        return `a save of it takes longer than ${DRY_RUN_MS} ms`
      configs.clear()
      const isConflict = faultKind(error) === 'conflict'
      await sleep(backoffMs(isConflict ? Math.min(tries, 4) + 1 : tries + 1, RETRY_BACKOFF), signal)
      if (!isConflict) timeLimit.extend(performance.now() - began)
    }
  }
  return null
}

/**
 * Returns whether Postgres answers quickly. If it does, a statement that timed out is itself slow. The probe uses the
 * connections of the saves, so it does not wait for the dry runs of other partitions.
 */
export async function isResponsive({ sql, batch }: Pick<ApplyContext, 'sql' | 'batch'>): Promise<boolean> {
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
