/**
 * A fault of data fails a whole micro-batch: finds the items that it comes from, by dry runs. Nothing is written meanwhile;
 * the rest then goes through in one save with the dead letters.
 */
import { DRY_RUN } from '../src/contacts/save-changes.ts'
import { faultKind, isUniqueViolation } from '../src/stores/postgres.ts'
import { type Applying, decideAll, saveAttempt } from './attempt.ts'
import { backOff } from './back-off.ts'
import { searchPoisoned } from './search-poisoned.ts'
import type { Work } from './work.ts'

/** Unique violations that some may have before they are taken to be their own; other conflicts are always others' doing. */
const VIOLATIONS_OF_ONE = 20

/**
 * @param works the items not yet set aside
 * @returns those with which the batch cannot be saved, and why; none when all of them go through after all. Of no meaning
 *   once `signal` aborted
 */
export function findPoisoned(applying: Applying, works: Work[]): Promise<Map<Work, string>> {
  return searchPoisoned(works, async (some) => {
    applying.beat()
    return await faultOf(applying, some)
  })
}

/** What is wrong with these items together; null when they would go through. Waits for trouble to pass, or `signal`. */
async function faultOf(applying: Applying, works: Work[]): Promise<string | null> {
  const { configs, signal } = applying
  for (let tries = 0, violations = 0; !signal.aborted; tries += 1) {
    try {
      // Exceptions of rules are not looked for here: the next attempt finds them by itself.
      const attempt = await decideAll(applying, works, new Map())
      if (attempt) await saveAttempt(applying, attempt, true)
      return null
    } catch (error) {
      if (isDryRun(error)) return null
      if (isUniqueViolation(error)) violations += 1
      if (faultKind(error) === 'data' || violations > VIOLATIONS_OF_ONE) return messageOf(error)
      configs.clear()
      await backOff(tries, signal)
    }
  }
  return null
}

const isDryRun = (error: unknown) => error instanceof Error && 'code' in error && error.code === DRY_RUN

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
