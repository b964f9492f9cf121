/** Adds up the outcomes of events. */
import type { BatchProgress } from './types.ts'

/** Maximum number of failures and warnings to keep, so that memory does not grow with the events. */
const MAX_KEPT = 10_000

export const nothing = (): BatchProgress => ({
  settled: 0,
  recorded: 0,
  deduped: 0,
  queued: 0,
  failed: 0,
  failures: [],
  warnings: [],
})

/** Adds numbers, and appends to lists up to 10,000 items. */
export function add(total: BatchProgress, more: Partial<BatchProgress>): void {
  const sums = total as unknown as Record<string, unknown>
  for (const [name, part] of Object.entries(more as Record<string, unknown>)) {
    const sum = sums[name]
    if (Array.isArray(sum)) sum.push(...(part as unknown[]).slice(0, MAX_KEPT - sum.length))
    else sums[name] = (sum as number) + (part as number)
  }
}
