/** Runs one ingest worker: it acquires its share of the partitions and runs a loop for each, until it is stopped. */
import { sleep } from '../../async/sleep.ts'
import type { Logger } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import { type LeaseExtensions, createLeaseExtensions } from '../leases/lease-extensions.ts'
import { type Lease, acquireLease, announceWorker, noticeFailover, readHolders, releaseAll } from '../leases/lease.ts'
import { rebalanceLeases } from '../leases/rebalance-leases.ts'
import { cutOffTimeout, renewLeasesInBackground } from '../leases/renew-leases.ts'
import type { ApplyMicroBatch } from '../micro-batch.ts'
import { type PartitionKind, kindOf } from '../partitions/partition-of.ts'
import { type Presence, createPresence } from './presence.ts'
import { type RunningLoops, findLostLoops, startLoop, stopLoops } from './running-loops.ts'
import type { Keep } from './trim.ts'
import { type Health, watchLoops } from './watch-loops.ts'
import { type PositionWatch, watchPositions } from './watch-positions.ts'

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

interface Worker {
  deps: IngestDeps
  options: IngestOptions
  tickMs: number
  running: RunningLoops
  presence: Presence
  positions: PositionWatch
  extensions: LeaseExtensions
  start: (lease: Lease) => void
  stop: AbortSignal
  /** Aborts when a loop has ended: its partition may be acquired again. */
  pause: AbortController
}

export function startIngestLoops(deps: IngestDeps, options: IngestOptions): IngestLoops {
  const { leaseMs, keep, cutOffMs = cutOffTimeout(leaseMs), returnGraceMs = cutOffMs } = options
  const running: RunningLoops = new Map()
  const stopping = new AbortController()
  const stop = options.signal ? AbortSignal.any([stopping.signal, options.signal]) : stopping.signal
  /**
   * Shorter than a lease, so that a dead worker no longer counts as live when its partitions become free. It also ends
   * before a worker that Redis does not answer suspends its leases.
   */
  const announcedMs = Math.min(leaseMs, cutOffMs) * 0.9
  const presence = createPresence(deps, { ...options, announcedMs, cutOffMs, returnGraceMs }, () =>
    Array.from(running.values(), ({ heartbeat }) => heartbeat),
  )
  const positions = watchPositions(deps)
  const extensions = createLeaseExtensions(leaseMs)
  const { leave, unansweredSince } = presence
  const renewer = renewLeasesInBackground(deps, { leaseMs, extensions, cutOffMs, leave })
  let death: Error | undefined
  const onEnd = (error?: Error) => {
    worker.pause.abort()
    if (error === undefined) return
    death ??= error
    stopping.abort()
  }
  const loopDeps = { ...deps, ...(keep && { keep }), renewer, extensions, unansweredSince, onEnd }
  const worker: Worker = {
    deps,
    options,
    tickMs: Math.min(500, leaseMs / 4),
    running,
    presence,
    positions,
    extensions,
    start: (lease) => startLoop(running, loopDeps, lease),
    stop,
    pause: new AbortController(),
  }
  stop.addEventListener('abort', () => worker.pause.abort())
  void watchLoops({
    log: deps.log,
    stop,
    loops: () => Array.from(running, ([partition, { heartbeat }]) => ({ partition, heartbeat })),
    cutOffMs,
    blockedBy: positions.blockedBy,
    isCutOff: presence.isCutOff,
    report: options.onHealth,
  })
  const done = runUntilStopped(worker).then(() => {
    if (death) throw death
  })
  return {
    running: () => [...running.keys()].toSorted(),
    done,
    async stop() {
      stopping.abort()
      await done
    },
  }
}

async function runUntilStopped(worker: Worker): Promise<void> {
  const { deps, options, tickMs, running, stop } = worker
  while (!stop.aborted) {
    worker.pause = new AbortController()
    const began = performance.now()
    const hasAll = await rebalance(worker).catch((error: unknown) => {
      deps.log.warn({ err: error }, 'partitions cannot be distributed now; trying again')
      return false
    })
    const dueAt = began + (hasAll ? 2 : 1) * tickMs
    await sleep(Math.max(0, dueAt - performance.now()), hasAll ? worker.pause.signal : stop)
  }
  await stopLoops(running.values())
  const left = [releaseAll(deps.sql, options.owner), announceWorker(deps.redis, options, 0)]
  for (const result of await Promise.allSettled(left)) {
    if (result.status === 'rejected')
      deps.log.warn({ err: result.reason as unknown }, 'the stores were not informed that this worker is leaving')
  }
}

/** Resolves with true when this worker is the only one and has all partitions. */
async function rebalance(worker: Worker): Promise<boolean> {
  const { deps, options, tickMs, running, presence, positions, extensions, start, stop } = worker
  const { sql, log } = deps
  const { owner, kinds, leaseMs } = options
  const workers = await presence.announce()
  if (await noticeFailover(sql)) log.warn('Postgres has failed over: partitions start again from its positions')
  const reached = new Map([...running].map(([partition, { heartbeat }]) => [partition, heartbeat.position]))
  const all = await readHolders(sql)
  await positions.check(all)
  if (positions.blockedBy() !== undefined) {
    await stopLoops(running.values())
    return false
  }
  const holders = all.filter(({ partition }) => kinds.includes(kindOf(partition))).map(presence.keepSuspended)
  const lost = findLostLoops(running, holders, reached)
  if (lost.length > 0) await Promise.race([stopLoops(lost), sleep(tickMs, stop)])
  const { acquire, release } = rebalanceLeases({ me: owner, workers, holders, running: new Set(running.keys()) })
  for (const partition of acquire) {
    const lease = await acquireLease(sql, partition, owner, leaseMs + extensions.of(partition))
    if (lease) start(lease)
  }
  if (release !== undefined) {
    log.info({ partition: release }, 'releasing a partition for another worker')
    const loop = running.get(release)
    if (loop) await stopLoops([loop])
  }
  return workers.length === 1 && holders.every(({ partition }) => running.has(partition))
}
