import { availableParallelism, loadavg } from 'node:os'

/** Returns a limit for elapsed time that holds on an idle machine, increased in proportion to the load of this one. */
export const atLoad = (bound: number): number => bound * Math.max(1, (2 * (loadavg()[0] ?? 0)) / availableParallelism())

/** How long tests wait for something that must happen. Tests of speed have limits of their own. */
export const PATIENCE_MS = 240_000
