/**
 * Longer leases for partitions with batches so large that they keep the whole thread busy. Such a thread cannot renew
 * its leases. If another worker then took the partition, the same batch would keep that worker busy, and no worker
 * would ever finish it. A batch that begins while another one keeps the thread busy may lose its partition: the epoch
 * then refuses its save, and the next owner applies it.
 */
import { MAX_LEASE_MS } from '../../config.ts'

const MAX_EXTENSION_MS = 30_000
/** How long an extension is remembered. A batch that fails makes no progress that would end it. */
const REMEMBERED_MS = 60_000

export interface LeaseExtensions {
  /**
   * Records that the thread was busy for this long while it applied batches of these partitions. Less than half a lease
   * changes nothing.
   */
  noteBusy(partitions: Iterable<string>, ms: number): void
  /** Records that a batch of the partition was applied: its leases have the usual length again. */
  noteApplied(partition: string): void
  /** Returns the number of milliseconds that a lease of the partition is longer than usual. */
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
      // The lease lasts twice the time that the thread was busy: the next attempt may take longer.
      const extended = Math.min(Math.max(0, 2 * ms - leaseMs / 2), mostMs)
      for (const partition of partitions)
        extensions.set(partition, { ms: Math.max(extended, current(partition)), notedAt: now() })
    },
    noteApplied: (partition) => void extensions.delete(partition),
    of: current,
  }
}
