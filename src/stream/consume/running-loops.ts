/** The loops that this worker runs, one for each partition that it has. */
import type { Redis } from '../../stores/redis.ts'
import type { LeaseExtensions } from '../leases/lease-extensions.ts'
import type { Lease, PartitionHolder } from '../leases/lease.ts'
import type { LeaseRenewer } from '../leases/renew-leases.ts'
import { compareIds } from '../stream-id.ts'
import type { ConsumeDeps } from './consume.ts'
import { runPartition } from './run-partition.ts'
import { createReader } from './stream-reader.ts'
import type { LoopHeartbeat } from './watch-loops.ts'

export interface RunningLoop {
  lease: Lease
  heartbeat: LoopHeartbeat
  stop: AbortController
  ended: Promise<void>
}

/** By partition. */
export type RunningLoops = Map<string, RunningLoop>

interface LoopDeps extends Omit<ConsumeDeps, 'reader' | 'beat'> {
  connectReader: () => Redis
  renewer: LeaseRenewer
  extensions: LeaseExtensions
  /** Returns since when Redis has not answered the commands of this worker. */
  unansweredSince: () => number | undefined
  /** Called when a loop has ended; with an error when it died. */
  onEnd: (death?: Error) => void
}

export function startLoop(running: RunningLoops, deps: LoopDeps, lease: Lease): void {
  const { log, renewer, extensions, unansweredSince, onEnd } = deps
  const { partition, epoch, position } = lease
  const stop = new AbortController()
  const reader = createReader(deps.connectReader, partition)
  const heartbeat: LoopHeartbeat = {
    lastProgressAt: performance.now(),
    workingSince: undefined,
    position,
    unansweredSince: () => earliest(reader.unansweredSince(), unansweredSince()),
  }
  const onApplied = () => extensions.noteApplied(partition)
  const ended = runPartition(deps, renewer, { lease, heartbeat, reader, onApplied }, stop).then(
    () => {
      running.delete(partition)
      onEnd()
    },
    (error: unknown) => {
      running.delete(partition)
      log.fatal({ err: error, partition }, 'a loop died')
      onEnd(new Error(`The loop of ${partition} died.`, { cause: error }))
    },
  )
  running.set(partition, { lease, heartbeat, stop, ended })
  log.info({ partition, epoch, position }, 'acquired a partition')
}

/** Resolves when they have ended. */
export async function stopLoops(loops: Iterable<RunningLoop>): Promise<void> {
  await Promise.all(
    Array.from(loops, ({ stop, ended }) => {
      stop.abort()
      return ended
    }),
  )
}

/**
 * Returns the loops of partitions that were removed, have a new epoch, or are behind a position that was committed. This
 * happens when the number of partitions changes, and when Postgres fails over. `reached`: the positions of the loops
 * before the holders were read.
 */
export function findLostLoops(
  running: RunningLoops,
  holders: readonly PartitionHolder[],
  reached: ReadonlyMap<string, string>,
): RunningLoop[] {
  const known = new Map(holders.map((holder) => [holder.partition, holder]))
  return [...running.values()].filter(({ lease: { partition, epoch } }) => {
    const holder = known.get(partition)
    return holder?.epoch !== epoch || compareIds(holder.position, reached.get(partition) ?? holder.position) < 0
  })
}

const earliest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
