/**
 * Longer leases for partitions with batches so large that they keep the whole thread busy. Such a thread cannot renew its
 * leases meanwhile. If another worker took the partition each time, it would be kept busy by the same batch, and no worker
 * would ever finish it.
 */
import { MAX_LEASE_MS } from '../config.ts'

const MAX_EXTENSION_MS = 30_000
/** An idle partition makes no progress that would end its extension. */
const REMEMBERED_MS = 60_000

export interface LeaseExtensions {
  /** The thread was busy for this long while it ran these partitions. Less than half a lease changes nothing. */
  noteBusy(partitions: Iterable<string>, ms: number): void
  /** A batch of the partition was applied: its leases have the usual length again. */
  noteApplied(partition: string): void
  /** By how many ms a lease of the partition is longer than usual. */
  of(partition: string): number
}

export function createLeaseExtensions(leaseMs: number, now = () => performance.now()): LeaseExtensions {
  const mostMs = Math.min(MAX_EXTENSION_MS, MAX_LEASE_MS - leaseMs)
  const extensions = new Map<string, { ms: number; notedAt: number }>()
  const current = (partition: string): number => {
    const extension = extensions.get(partition)
    return extension && now() - extension.notedAt < REMEMBERED_MS ? extension.ms : 0
  }
  return {
    noteBusy(partitions, ms) {
      if (ms < leaseMs / 2) return
      // The lease lasts twice as long as the thread was busy: the next attempt may take longer.
      const extended = Math.min(Math.max(0, 2 * ms - leaseMs / 2), mostMs)
      for (const partition of partitions)
        extensions.set(partition, { ms: Math.max(extended, current(partition)), notedAt: now() })
    },
    noteApplied: (partition) => void extensions.delete(partition),
    of: current,
  }
}
