/** Runs one ingest worker: it acquires its share of the partitions and runs a loop for each, until it is stopped. */
import { runPartition } from './run-partition.ts'
import { type LoopHeartbeat, type Health, watchLoops } from './watch-loops.ts'
import type { Logger } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import { cutOffTimeout, isCutOff, renewLeasesInBackground } from '../leases/renew-leases.ts'
import { createLeaseExtensions } from '../leases/lease-extensions.ts'
import {
  type Lease,
  type PartitionHolder,
  acquireLease,
  announceWorker,
  noticeFailover,
  readHolders,
  releaseAll,
} from '../leases/lease.ts'
import { OLDER_THAN_REDIS, findLost } from './kept.ts'
import type { ApplyMicroBatch } from '../micro-batch.ts'
import { type PartitionKind, kindOf } from '../partitions/partition-of.ts'
import { sleep } from '../../async/sleep.ts'
import { isRefusal } from '../run-script.ts'
import { rebalanceLeases } from '../leases/rebalance-leases.ts'
import { compareIds } from '../stream-id.ts'
import { canRead } from './can-read.ts'
import { createReader } from './stream-reader.ts'
import type { Keep } from './trim.ts'

export interface IngestDeps {
  sql: Sql
  /** Connection in the role `command`. */
  redis: Redis
  /** Creates a client in the role `read`. */
  connectReader: () => Redis
  apply: ApplyMicroBatch
  log: Logger
  metrics?: Metrics
}
export interface IngestOptions {
  /**
   * This worker's name, unique among live workers. A restarted worker with the same name gets its partitions back at
   * once.
   */
  owner: string
  /** The kinds of partitions that it acquires. It shares them with the workers that have the same kinds. */
  kinds: readonly PartitionKind[]
  leaseMs: number
  /** A worker that Redis does not answer for this long suspends its leases. Default: `leaseMs`, but at least 3 s. */
  cutOffMs?: number
  /** How long a worker that Redis answers again leaves suspended leases to their owners. Default: `cutOffMs`. */
  returnGraceMs?: number
  /** How long applied entries stay in the streams. Default: not at all. */
  keep?: Keep
  /** Stops the loops as `stop` does. */
  signal?: AbortSignal
  /** Called about once a second with the faults of this worker. */
  onHealth?: (health: Health) => void
}

export interface IngestLoops {
  /** Returns the partitions whose loops are running. */
  running(): string[]
  /** Finishes the saves in progress and releases the leases. */
  stop(): Promise<void>
  /** Resolves after `stop`. Rejects when a loop died, after the others were stopped. */
  done: Promise<void>
}

interface RunningLoop {
  lease: Lease
  heartbeat: LoopHeartbeat
  stop: AbortController
  ended: Promise<void>
}

export function startIngestLoops(deps: IngestDeps, options: IngestOptions): IngestLoops {
  const { sql, redis, log } = deps
  const { owner, kinds, leaseMs, keep, cutOffMs = cutOffTimeout(leaseMs), returnGraceMs = cutOffMs } = options
  const tickMs = Math.min(500, leaseMs / 4)
  /**
   * Shorter than a lease, so that a dead worker no longer counts as live when its partitions become free. It also ends
   * before a worker that Redis does not answer suspends its leases.
   */
  const announcedMs = Math.min(leaseMs, cutOffMs) * 0.9
  const running = new Map<string, RunningLoop>()
  const stopping = new AbortController()
  const stop = options.signal ? AbortSignal.any([stopping.signal, options.signal]) : stopping.signal
  let death: Error | undefined
  /** Time of the first command that Redis has not answered; undefined when the last one was answered. */
  let commandsUnansweredSince: number | undefined
  /** True when a loop was cut off from Redis after this worker was last able to read. */
  let wasCutOff = false
  /** Number of times that this worker has left the list of live workers. */
  let departures = 0
  /** Time when Redis last answered an announcement. */
  let announcedAt = -Infinity
  /** Time when Redis last answered again after a cut-off. */
  let backAt = -Infinity
  /** The positions as last read. */
  let seen = new Map<string, string>()
  /** The reason why no partition may be applied. */
  let blockedBy: string | undefined
  /** Aborts when a loop has ended: its partition may be acquired again. */
  let pause = new AbortController()
  stop.addEventListener('abort', () => pause.abort())

  /**
   * Leaves the list of live workers. Resolves once this worker no longer counts as live; otherwise, others would
   * release partitions for it.
   */
  const leave = async (): Promise<void> => {
    wasCutOff = true
    departures += 1
    const left = new AbortController()
    const until = (commandsUnansweredSince ?? announcedAt) + announcedMs
    const over = sleep(Math.max(0, until - performance.now()), left.signal)
    announceWorker(redis, options, 0).then(
      () => left.abort(),
      () => undefined,
    )
    await over
  }
  const extensions = createLeaseExtensions(leaseMs)
  const renewer = renewLeasesInBackground(deps, { leaseMs, extensions, cutOffMs, leave })

  const start = (lease: Lease): void => {
    const stop = new AbortController()
    const reader = createReader(deps.connectReader, lease.partition)
    const heartbeat: LoopHeartbeat = {
      lastProgressAt: performance.now(),
      workingSince: undefined,
      position: lease.position,
      unansweredSince: () => earliest(reader.unansweredSince(), commandsUnansweredSince),
    }
    const onApplied = () => extensions.noteApplied(lease.partition)
    const ended = runPartition(
      { ...deps, ...(keep && { keep }) },
      renewer,
      { lease, heartbeat, reader, onApplied },
      stop,
    ).then(
      () => {
        running.delete(lease.partition)
        pause.abort()
      },
      (error: unknown) => {
        running.delete(lease.partition)
        log.fatal({ err: error, partition: lease.partition }, 'a loop died')
        death ??= new Error(`The loop of ${lease.partition} died.`, { cause: error })
        stopping.abort()
      },
    )
    running.set(lease.partition, { lease, heartbeat, stop, ended })
    log.info({ partition: lease.partition, epoch: lease.epoch, position: lease.position }, 'acquired a partition')
  }

  /**
   * Stops the loops of partitions that were removed, have a new epoch, or are behind a position that was committed. This
   * happens when the number of partitions changes, and when Postgres fails over.
   */
  const endLost = async (holders: PartitionHolder[], reached: Map<string, string>): Promise<void> => {
    const known = new Map(holders.map((holder) => [holder.partition, holder]))
    const lost = [...running.values()].filter(({ lease: { partition, epoch } }) => {
      const holder = known.get(partition)
      return holder?.epoch !== epoch || compareIds(holder.position, reached.get(partition) ?? holder.position) < 0
    })
    for (const loop of lost) loop.stop.abort()
    if (lost.length > 0) await Promise.race([Promise.all(lost.map((loop) => loop.ended)), sleep(tickMs, stop)])
  }

  /**
   * Announces this worker and resolves with the live workers. A worker that cannot read leaves the list, and this
   * rejects: it must not acquire partitions.
   */
  const announce = async (): Promise<string[]> => {
    commandsUnansweredSince ??= performance.now()
    wasCutOff ||= [...running.values()].some(({ heartbeat }) => isCutOff(heartbeat, cutOffMs))
    const mayBeBack = wasCutOff
    const before = departures
    const workers =
      mayBeBack && !(await canRead(deps, kinds))
        ? await announceWorker(redis, options, 0).then(() => undefined)
        : await announceWorker(redis, options, announcedMs).catch((error: unknown) => {
            // An error reply is also an answer.
            if (isRefusal(error)) commandsUnansweredSince = undefined
            throw error
          })
    commandsUnansweredSince = undefined
    announcedAt = performance.now()
    // Leave again: the worker was cut off during this call, and had left before it was announced.
    if (departures !== before) await announceWorker(redis, options, 0)
    if (workers === undefined || wasCutOff !== mayBeBack || departures !== before)
      throw new Error('Redis does not answer reads.')
    if (wasCutOff) backAt = performance.now()
    wasCutOff = false
    return workers
  }

  /**
   * When Redis was away for all workers, the owners of suspended leases will come back soon, too. Until then, they keep
   * their partitions.
   */
  const keepSuspended = (holder: PartitionHolder): PartitionHolder =>
    holder.suspendedBy && performance.now() - backAt < returnGraceMs
      ? { ...holder, owner: holder.suspendedBy, suspendedBy: null }
      : holder

  /**
   * Stops all loops while Redis has deleted entries that this Postgres has not applied. Checked at the start, and when
   * a position is lower than before.
   */
  const checkLost = async (holders: PartitionHolder[]): Promise<void> => {
    const positions = new Map(holders.map(({ partition, position }) => [partition, position]))
    const isLower = [...positions].some(
      ([partition, position]) => compareIds(position, seen.get(partition) ?? position) < 0,
    )
    if (seen.size > 0 && !isLower && blockedBy === undefined) return void (seen = positions)
    const lost = await findLost(redis, positions)
    seen = positions
    if (lost.length > 0 && blockedBy === undefined)
      log.error({ partitions: lost }, 'Postgres is older than Redis: nothing is applied until admin recover was run')
    blockedBy = lost.length > 0 ? OLDER_THAN_REDIS : undefined
    if (blockedBy === undefined) return
    for (const loop of running.values()) loop.stop.abort()
    await Promise.all([...running.values()].map((loop) => loop.ended))
  }

  /** Resolves with true when this worker is the only one and has all partitions. */
  const rebalance = async (): Promise<boolean> => {
    const workers = await announce()
    if (await noticeFailover(sql)) log.warn('Postgres has failed over: partitions start again from its positions')
    const reached = new Map([...running].map(([partition, { heartbeat }]) => [partition, heartbeat.position]))
    const all = await readHolders(sql)
    await checkLost(all)
    if (blockedBy !== undefined) return false
    const holders = all.filter(({ partition }) => kinds.includes(kindOf(partition))).map(keepSuspended)
    await endLost(holders, reached)
    const { acquire, release } = rebalanceLeases({ me: owner, workers, holders, running: new Set(running.keys()) })
    for (const partition of acquire) {
      const lease = await acquireLease(sql, partition, owner, leaseMs + extensions.of(partition))
      if (lease) start(lease)
    }
    if (release !== undefined) {
      log.info({ partition: release }, 'releasing a partition for another worker')
      running.get(release)?.stop.abort()
      await running.get(release)?.ended
    }
    return workers.length === 1 && holders.every(({ partition }) => running.has(partition))
  }

  const run = async (): Promise<void> => {
    const loops = () => [...running].map(([partition, { heartbeat }]) => ({ partition, heartbeat }))
    void watchLoops({
      log,
      stop,
      loops,
      cutOffMs,
      blockedBy: () => blockedBy,
      isCutOff: () => wasCutOff || isCutOff({ unansweredSince: () => commandsUnansweredSince }, cutOffMs),
      report: options.onHealth,
    })
    while (!stop.aborted) {
      pause = new AbortController()
      const began = performance.now()
      const hasAll = await rebalance().catch((error: unknown) => {
        log.warn({ err: error }, 'partitions cannot be distributed now; trying again')
        return false
      })
      const dueAt = began + (hasAll ? 2 : 1) * tickMs
      await sleep(Math.max(0, dueAt - performance.now()), hasAll ? pause.signal : stop)
    }
    for (const loop of running.values()) loop.stop.abort()
    await Promise.all([...running.values()].map((loop) => loop.ended))
    const left = [releaseAll(sql, owner), announceWorker(redis, options, 0)]
    for (const result of await Promise.allSettled(left)) {
      if (result.status === 'rejected')
        log.warn({ err: result.reason as unknown }, 'the stores were not informed that this worker is leaving')
    }
    if (death) throw death
  }

  const done = run()
  return {
    running: () => [...running.keys()].toSorted(),
    done,
    async stop() {
      stopping.abort()
      await done
    },
  }
}

const earliest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
