/** What became of events, added up. */
import type { BatchProgress } from './types.ts'

/** How many failures and warnings are kept: the memory must not grow with the events. */
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

/** Numbers are summed; of lists the first 10,000 are kept. */
export function add(total: BatchProgress, more: Partial<BatchProgress>): void {
  const sums = total as unknown as Record<string, unknown>
  for (const [name, part] of Object.entries(more as Record<string, unknown>)) {
    const sum = sums[name]
    if (Array.isArray(sum)) sum.push(...(part as unknown[]).slice(0, MAX_KEPT - sum.length))
    else sums[name] = (sum as number) + (part as number)
  }
}
