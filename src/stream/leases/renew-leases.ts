/**
 * Renews the leases of one worker. One statement renews the idle partitions. A save locks the row of its partition; the
 * renewal waits for that row separately, so that it does not delay the others. A lease is renewed only while Redis
 * answers its loop. When Redis does not answer, another worker may take the partition. If none does, because Redis is
 * away for all of them, the same loop continues under the same epoch once Redis is back.
 */
import type { Logger } from '../../log.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type Lease, renewLease, renewLeases, suspendLeases } from './lease.ts'
import type { LeaseExtensions } from './lease-extensions.ts'
import { sleep } from '../../async/sleep.ts'

/** A loop counts as dead after this time without progress while Postgres answers. */
const STUCK_MS = 60_000

/** A blocking read returns after 2 seconds, so Redis may be silent for that long. */
const MIN_CUT_OFF_MS = 3000

/** Milliseconds without an answer from Redis after which a worker is cut off. */
export const cutOffTimeout = (leaseMs: number): number => Math.max(leaseMs, MIN_CUT_OFF_MS)

/** All times by `performance.now()`. */
export interface Heartbeat {
  /** Time when the loop of a partition last made progress. */
  lastProgressAt: number
  /** Time when the loop started to apply the current micro-batch; undefined between two micro-batches. */
  workingSince: number | undefined
  /** Time since which Redis has not answered the loop; undefined when the last command was answered. */
  unansweredSince: () => number | undefined
}

export const isCutOff = ({ unansweredSince }: Pick<Heartbeat, 'unansweredSince'>, cutOffMs: number): boolean =>
  performance.now() - (unansweredSince() ?? Infinity) >= cutOffMs

/** Returns Infinity when the loop is already cut off. */
const msUntilCutOff = ({ unansweredSince }: Heartbeat, cutOffMs: number): number => {
  const left = (unansweredSince() ?? Infinity) + cutOffMs - performance.now()
  return left > 0 ? Math.ceil(left) : Infinity
}

/** Longer leases are renewed this often, too: a renewal also detects that a partition was lost. */
const MAX_INTERVAL_MS = 1000

export interface LeaseRenewer {
  /**
   * Renews the lease until the partition is lost or `over` aborts, and then resolves. Rejects when the loop is stuck.
   */
  keep(lease: Lease, heartbeat: Heartbeat, over: AbortSignal): Promise<void>
}

interface TrackedLease {
  lease: Lease
  heartbeat: Heartbeat
  /** Time since which Postgres has answered; undefined when the last statement failed. */
  reachableSince: number | undefined
  isBusy: boolean
  isSuspended: boolean
  /** `death` is the error that killed the loop. */
  end: (death?: Error) => void
}

/**
 * A timer that is at least this late shows that the thread was busy. The thread then reads what has arrived within the
 * same time.
 */
const LATE_MS = 50

/** Sleeps, and resolves with the number of milliseconds that it woke up late. */
async function sleepAndMeasure(ms: number, signal: AbortSignal): Promise<number> {
  const dueAt = performance.now() + ms
  await sleep(ms, signal)
  return performance.now() - dueAt
}

interface RenewalOptions {
  leaseMs: number
  extensions: LeaseExtensions
  cutOffMs: number
  /** Awaited before leases are suspended. */
  leave: () => Promise<void>
}

export function renewLeasesInBackground(
  { sql, log }: { sql: Sql; log: Logger },
  { leaseMs, extensions, cutOffMs, leave }: RenewalOptions,
): LeaseRenewer {
  const tracked = new Set<TrackedLease>()
  let none = new AbortController()
  const intervalMs = Math.min(leaseMs / 3, MAX_INTERVAL_MS)
  const msOf = ({ partition }: Lease) => leaseMs + extensions.of(partition)

  const keepRenewing = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const untilCutOff = Math.min(...[...tracked].map(({ heartbeat }) => msUntilCutOff(heartbeat, cutOffMs)))
      const lateMs = await sleepAndMeasure(Math.min(intervalMs, untilCutOff), signal)
      // Read the answers of Redis that have arrived: a busy thread is not cut off.
      if (lateMs > LATE_MS) await sleep(LATE_MS, signal)
      if (signal.aborted) return
      await renewTogether([...tracked].filter(({ isBusy }) => !isBusy))
    }
  }
  const watchBusyThread = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const busyMs = await sleepAndMeasure(intervalMs, signal)
      // Partitions without a batch keep their usual leases: also while it starts, a thread is busy.
      const working = [...tracked].filter(({ heartbeat }) => heartbeat.workingSince !== undefined)
      extensions.noteBusy(
        working.map(({ lease }) => lease.partition),
        busyMs,
      )
    }
  }
  const renewTogether = async (due: TrackedLease[]): Promise<void> => {
    try {
      const cutOff = due.filter(({ heartbeat }) => isCutOff(heartbeat, cutOffMs))
      const inTouch = due.filter((one) => !cutOff.includes(one))
      for (const one of inTouch) one.isSuspended = false
      const fresh = cutOff.filter(({ isSuspended }) => !isSuspended)
      if (fresh.length > 0) void suspendFresh(fresh)
      await suspend(cutOff.filter(({ isSuspended }) => isSuspended))
      const { renewed, holders } = await renewLeases(
        sql,
        inTouch.map(({ lease }) => lease),
        msOf,
      )
      for (const one of inTouch) {
        if (renewed.has(one.lease.partition)) recordSuccess(one)
        else void renewAlone(one)
      }
      const epochs = new Map(holders.map(({ partition, epoch }) => [partition, epoch]))
      for (const one of cutOff) {
        if (epochs.get(one.lease.partition) === one.lease.epoch) recordSuccess(one)
        else one.end()
      }
    } catch (error) {
      recordFailure(due, error)
    }
  }
  const suspend = async (cutOff: TrackedLease[]): Promise<void> => {
    const leases = cutOff.map(({ lease }) => lease)
    if (leases.length > 0) await suspendLeases(sql, leases)
  }
  const suspendFresh = async (fresh: TrackedLease[]): Promise<void> => {
    const partitions = fresh.map(({ lease }) => lease.partition)
    log.warn({ partitions }, `Redis has not answered for ${cutOffMs} ms: another worker may take these partitions`)
    for (const one of fresh) one.isBusy = true
    try {
      await leave()
      const cutOff = fresh.filter((one) => tracked.has(one) && isCutOff(one.heartbeat, cutOffMs))
      await suspend(cutOff)
      for (const one of cutOff) one.isSuspended = true
    } catch (error) {
      recordFailure(fresh, error)
    } finally {
      for (const one of fresh) one.isBusy = false
    }
  }
  const renewAlone = async (one: TrackedLease): Promise<void> => {
    one.isBusy = true
    try {
      if (await renewLease(sql, one.lease, msOf(one.lease))) recordSuccess(one)
      else one.end()
    } catch (error) {
      recordFailure([one], error)
    } finally {
      one.isBusy = false
    }
  }
  const recordSuccess = (one: TrackedLease): void => {
    one.reachableSince ??= performance.now()
    // A save waits while Postgres is away, so only the time since Postgres answers again counts.
    if (performance.now() - Math.max(one.heartbeat.lastProgressAt, one.reachableSince) > STUCK_MS)
      one.end(new Error(`The loop of ${one.lease.partition} has made no progress for ${STUCK_MS} ms.`))
  }
  const recordFailure = (failed: TrackedLease[], error: unknown): void => {
    for (const one of failed) one.reachableSince = undefined
    log.warn({ err: error, partitions: failed.map(({ lease }) => lease.partition) }, 'leases could not be renewed')
  }

  return {
    keep(lease, heartbeat, over) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const end = (death?: Error): void => {
        over.removeEventListener('abort', onOver)
        tracked.delete(one)
        if (tracked.size === 0) none.abort()
        if (death) reject(death)
        else resolve()
      }
      const onOver = (): void => end()
      const one: TrackedLease = { lease, heartbeat, reachableSince: undefined, isBusy: false, isSuspended: false, end }
      over.addEventListener('abort', onOver)
      tracked.add(one)
      if (tracked.size === 1) {
        none = new AbortController()
        void keepRenewing(none.signal)
        void watchBusyThread(none.signal)
      }
      return promise
    },
  }
}
