import { availableParallelism, loadavg } from 'node:os'

/** A bound in milliseconds as it is on a machine that is free; where others wait for its processors, too, it is higher by as much. */
export const atLoad = (ms: number): number => ms * Math.max(1, (2 * (loadavg()[0] ?? 0)) / availableParallelism())
