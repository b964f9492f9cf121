/**
 * Longer leases for partitions with batches so large that they keep the whole thread busy. Such a thread cannot renew its
 * leases meanwhile. If another worker took the partition each time, it would be kept busy by the same batch, and no worker
 * would ever finish it.
 */
const MAX_EXTENSION_MS = 30_000
/** An idle partition makes no progress that would end its extension. */
const REMEMBERED_MS = 60_000

export interface LeaseExtensions {
  /** The thread was busy for this long while it ran these partitions. */
  noteBusy(partitions: Iterable<string>, ms: number): void
  /** A batch of the partition was applied: its leases have the usual length again. */
  noteApplied(partition: string): void
  /** By how many ms a lease of the partition is longer than usual. */
  of(partition: string): number
}

export function createLeaseExtensions(now = () => performance.now()): LeaseExtensions {
  const extensions = new Map<string, { ms: number; notedAt: number }>()
  const current = (partition: string): number => {
    const extension = extensions.get(partition)
    return extension && now() - extension.notedAt < REMEMBERED_MS ? extension.ms : 0
  }
  return {
    noteBusy(partitions, ms) {
      // Twice: the next attempt may take longer, and beside it the thread has other work.
      const extended = Math.min(2 * ms, MAX_EXTENSION_MS)
      for (const partition of partitions)
        extensions.set(partition, { ms: Math.max(extended, current(partition)), notedAt: now() })
    },
    noteApplied: (partition) => void extensions.delete(partition),
    of: current,
  }
}
