import { availableParallelism, loadavg } from 'node:os'

/** A bound on elapsed time as it is on a machine that is free; where others wait for its processors, too, it is higher by as much. */
export const atLoad = (bound: number): number => bound * Math.max(1, (2 * (loadavg()[0] ?? 0)) / availableParallelism())

/** How long a test waits for what must happen. How soon it happens is the machine's: a test that is about that has a bound. */
export const PATIENCE_MS = 240_000
