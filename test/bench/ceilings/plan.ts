/** The input of a ceiling: the pipeline's events, in groups of the same size. */
import type { StoreUrls } from '../../../src/stores/data-dir.ts'
import type { Groups } from '../read-groups.ts'
import type { Traffic } from '../generator/traffic.ts'

export interface CeilingPlan {
  stores: StoreUrls
  traffic: Traffic
  groups: Groups
  /** Number of events for warming up, which fill the tables as far as the pipeline's. */
  warmUp: number
  /** Number of events to measure. */
  events: number
}

export interface CeilingResult {
  events: number
  /** CPU time of the client process during the measurement, in microseconds. */
  cpuUs: number
}

/** Runs the measured part and returns the client's CPU time. */
export async function spend(events: number, work: () => Promise<void>): Promise<CeilingResult> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return { events, cpuUs: user + system }
}

/** Splits into lists of at most `size`. */
export function inGroups<T>(items: T[], size: number): T[][] {
  const step = Math.max(1, Math.round(size))
  return Array.from({ length: Math.ceil(items.length / step) }, (_, at) => items.slice(at * step, (at + 1) * step))
}
