/** Watches the loops of one worker for loops that are cut off from Redis or make no progress. */
import { type Heartbeat, isCutOff } from '../leases/renew-leases.ts'
import type { Logger } from '../../log.ts'
import { sleep } from '../../async/sleep.ts'
import { STALLED_MS } from './stalled-partitions.ts'

export interface Health {
  /** The reason why this worker cannot work. */
  blocked?: string
  /** The reason why some of its work is delayed. */
  degraded?: string
}

const LOOK_MS = 1000
/** Milliseconds between two log lines about the same partition. */
const LOG_EVERY_MS = 30_000

interface WatchOptions {
  log: Logger
  stop: AbortSignal
  loops: () => { partition: string; heartbeat: LoopHeartbeat }[]
  /** A loop is cut off when Redis has not answered it for this long. */
  cutOffMs: number
  /** Returns the reason why no partition may be applied; undefined when there is none. */
  blockedBy: () => string | undefined
  /** Returns true when Redis does not answer the commands or the reads of this worker, even if it has no partition. */
  isCutOff: () => boolean
  report: ((health: Health) => void) | undefined
}

/** Runs until `stop` aborts. */
export async function watchLoops(options: WatchOptions): Promise<void> {
  const { log, stop, loops, cutOffMs, isCutOff: isWorkerCutOff, blockedBy, report } = options
  const loggedAt = new Map<string, number>()
  while (!stop.aborted) {
    const now = performance.now()
    const stalled = loops().flatMap(({ partition, heartbeat: { workingSince } }) =>
      workingSince !== undefined && now - workingSince >= STALLED_MS
        ? [{ partition, seconds: Math.floor((now - workingSince) / 1000) }]
        : [],
    )
    for (const one of stalled) {
      if (now - (loggedAt.get(one.partition) ?? -Infinity) < LOG_EVERY_MS) continue
      loggedAt.set(one.partition, now)
      log.warn(one, 'a partition has work and makes no progress')
    }
    const cutOff = loops().flatMap(({ partition, heartbeat }) => (isCutOff(heartbeat, cutOffMs) ? [partition] : []))
    const reason = blockedBy()
    report?.({
      ...(reason !== undefined && { blocked: reason }),
      ...((cutOff.length > 0 || isWorkerCutOff()) && {
        blocked: `redis: it does not answer this worker (${cutOff.toSorted().join(', ') || 'no partition'})`,
      }),
      ...(stalled.length > 0 && {
        degraded: stalled.map(describeStalled).join('; '),
      }),
    })
    await sleep(LOOK_MS, stop)
  }
  report?.({})
}

export const describeStalled = ({ partition, seconds }: { partition: string; seconds: number }): string =>
  `partitions: ${partition} has work and has made no progress for ${seconds} s`

/** The heartbeat of one loop, as this worker watches it. */
export interface LoopHeartbeat extends Heartbeat {
  /** The committed position. */
  position: string
}
