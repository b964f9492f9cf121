/** What a ceiling is measured with: the same events as the pipeline's, in groups of the same size. */
import type { StoreUrls } from '../../../src/stores/data-dir.ts'
import type { Groups } from '../read-groups.ts'
import type { Traffic } from '../generator/traffic.ts'

export interface CeilingPlan {
  stores: StoreUrls
  traffic: Traffic
  groups: Groups
  /** Events that warm up, and that fill the tables as far as the pipeline's were. */
  warmUp: number
  /** Events that are measured. */
  events: number
}

export interface CeilingResult {
  events: number
  /** Of the client process, while it measured. */
  cpuUs: number
}

/** Runs the measured part and says what the client spent on it. */
export async function spend(events: number, work: () => Promise<void>): Promise<CeilingResult> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return { events, cpuUs: user + system }
}

/** Lists of at most `size`. */
export function inGroups<T>(items: T[], size: number): T[][] {
  const step = Math.max(1, Math.round(size))
  return Array.from({ length: Math.ceil(items.length / step) }, (_, at) => items.slice(at * step, (at + 1) * step))
}
