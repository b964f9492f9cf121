/**
 * Returns the number of runs of a property, given the `full` number. `npm test` sets TEST_RUNS to a fraction, `npm run
 * test:all` does all runs, and TEST_RUNS=10 searches for rare failures. A failure prints its seed and path: pass both
 * to `fc.assert` to repeat it.
 */
const FACTOR = Number(process.env['TEST_RUNS'] ?? 1)

export const runs = (full: number): number => Math.max(1, Math.ceil(full * FACTOR))

/** Whether all runs are done, for the few tests that always take long. */
export const RUNS_ALL = FACTOR >= 1

/**
 * Selects pairs of two lists for a test: returns the part of `all` to be paired with item `nth` of the other list.
 * Neighbouring items get different parts, so that each of `all` is paired with some items of the other list.
 */
export function partOf<T>(all: readonly T[], nth: number): T[] {
  const count = Math.min(all.length, runs(all.length))
  return Array.from({ length: count }, (_, i) => all[(nth * count + i) % all.length] as T)
}
