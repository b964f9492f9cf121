/**
 * How many runs a property gets, of the `full` number: `npm test` sets TEST_RUNS to a part of 1, `npm run test:all` runs them
 * all, and 10 looks for what is rare. A failure prints its seed and path: pass both to `fc.assert` to see it again.
 */
const FACTOR = Number(process.env['TEST_RUNS'] ?? 1)

export const runs = (full: number): number => Math.max(1, Math.ceil(full * FACTOR))
