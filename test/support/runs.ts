/**
 * How many runs a property gets, of the `full` number: `npm test` sets TEST_RUNS to a part of 1, `npm run test:all` runs them
 * all, and 10 looks for what is rare. A failure prints its seed and path: pass both to `fc.assert` to see it again.
 */
const FACTOR = Number(process.env['TEST_RUNS'] ?? 1)

export const runs = (full: number): number => Math.max(1, Math.ceil(full * FACTOR))

/** Whether all are run: for the few tests that take long whatever they are given. */
export const RUNS_ALL = FACTOR >= 1

/**
 * For a test of each pair of two lists: of `all`, the part of `runs` that the `nth` of the other list is paired with. Neighbours
 * have other parts, so that each of `all` is paired with some of the other list.
 */
export function partOf<T>(all: readonly T[], nth: number): T[] {
  const count = Math.min(all.length, runs(all.length))
  return Array.from({ length: count }, (_, i) => all[(nth * count + i) % all.length] as T)
}
