/**
 * A fault of data fails a whole micro-batch: finds the item that it comes from, by dry runs of ever closer prefixes.
 * Nothing is written meanwhile; the rest then goes through in one save with the dead letter.
 */
import { DRY_RUN } from '../src/contacts/save-changes.ts'
import { faultKind, isUniqueViolation } from '../src/stores/postgres.ts'
import type { MicroBatch } from '../src/stream/micro-batch.ts'
import { type PipelineDeps, decideAll, saveAttempt } from './attempt.ts'
import { backOff } from './back-off.ts'
import type { Work } from './work.ts'

/** Unique violations that a prefix may have before they are taken to be its own; other conflicts are always others' doing. */
const VIOLATIONS_OF_ONE = 20

export interface Poisoned {
  work: Work
  reason: string
}

/**
 * @param works the items not yet set aside
 * @returns the first item with which the batch cannot be saved; null when all of them go through after all
 */
export async function findPoisoned(
  deps: PipelineDeps,
  batch: MicroBatch,
  works: Work[],
  signal: AbortSignal,
): Promise<Poisoned | null> {
  let reason = await faultOf(deps, batch, works, signal)
  if (reason === null) return null
  let passing = 0
  let failing = works.length
  while (failing - passing > 1) {
    const middle = Math.floor((passing + failing) / 2)
    const fault = await faultOf(deps, batch, works.slice(0, middle), signal)
    if (signal.aborted) return null
    if (fault === null) passing = middle
    else {
      failing = middle
      reason = fault
    }
  }
  const work = works[failing - 1]
  return work ? { work, reason } : null
}

/** What is wrong with these items together; null when they would go through. Waits for trouble to pass. */
async function faultOf(
  deps: PipelineDeps,
  batch: MicroBatch,
  works: Work[],
  signal: AbortSignal,
): Promise<string | null> {
  for (let tries = 0, violations = 0; !signal.aborted; tries += 1) {
    try {
      // Exceptions of rules are not looked for here: the next attempt finds them by itself.
      await saveAttempt(deps, batch, await decideAll(deps, batch, works, new Map()), true)
      return null
    } catch (error) {
      if (isDryRun(error)) return null
      if (isUniqueViolation(error)) violations += 1
      if (faultKind(error) === 'data' || violations > VIOLATIONS_OF_ONE) return messageOf(error)
      deps.configs.clear()
      await backOff(tries, signal)
    }
  }
  return null
}

const isDryRun = (error: unknown) => error instanceof Error && 'code' in error && error.code === DRY_RUN

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
