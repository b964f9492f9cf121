/** Keeps this worker in the list of live workers for as long as Redis answers it. Others take the partitions of the rest. */
import { sleep } from '../../async/sleep.ts'
import type { Redis } from '../../stores/redis.ts'
import { type PartitionHolder, announceWorker } from '../leases/lease.ts'
import { type Heartbeat, isCutOff } from '../leases/renew-leases.ts'
import type { PartitionKind } from '../partitions/partition-of.ts'
import { isRefusal } from '../run-script.ts'
import { canRead } from './can-read.ts'

export interface Presence {
  /**
   * Announces this worker and resolves with the live workers. A worker that cannot read leaves the list, and this
   * rejects: it must not acquire partitions.
   */
  announce(): Promise<string[]>
  /**
   * Leaves the list of live workers. Resolves once this worker no longer counts as live; otherwise, others would
   * release partitions for it.
   */
  leave(): Promise<void>
  /** Returns the time of the first command that Redis has not answered; undefined when the last one was answered. */
  unansweredSince(): number | undefined
  isCutOff(): boolean
  /**
   * Returns the holder as this worker counts it. When Redis was away for all workers, the owners of suspended leases
   * will come back soon, too. Until then, they keep their partitions.
   */
  keepSuspended(holder: PartitionHolder): PartitionHolder
}

interface PresenceOptions {
  owner: string
  kinds: readonly PartitionKind[]
  /** For how long an announcement counts. */
  announcedMs: number
  cutOffMs: number
  returnGraceMs: number
}

/** All times by `performance.now()`. */
interface State {
  unansweredSince: number | undefined
  /** True when a loop was cut off from Redis after this worker was last able to read. */
  wasCutOff: boolean
  /** Number of times that this worker has left the list. */
  departures: number
  /** Time when Redis last answered an announcement. */
  announcedAt: number
  /** Time when Redis last answered again after a cut-off. */
  backAt: number
}

/** `heartbeats`: those of the loops that are running. */
export function createPresence(
  deps: { redis: Redis; connectReader: () => Redis },
  options: PresenceOptions,
  heartbeats: () => Pick<Heartbeat, 'unansweredSince'>[],
): Presence {
  const { announcedMs, cutOffMs, returnGraceMs } = options
  const state: State = {
    unansweredSince: undefined,
    wasCutOff: false,
    departures: 0,
    announcedAt: -Infinity,
    backAt: -Infinity,
  }
  const unansweredSince = () => state.unansweredSince
  return {
    async announce() {
      state.wasCutOff ||= heartbeats().some((one) => isCutOff(one, cutOffMs))
      return announce(deps, options, state)
    },
    async leave() {
      state.wasCutOff = true
      state.departures += 1
      const left = new AbortController()
      const until = (state.unansweredSince ?? state.announcedAt) + announcedMs
      const over = sleep(Math.max(0, until - performance.now()), left.signal)
      announceWorker(deps.redis, options, 0).then(
        () => left.abort(),
        () => undefined,
      )
      await over
    },
    unansweredSince,
    isCutOff: () => state.wasCutOff || isCutOff({ unansweredSince }, cutOffMs),
    keepSuspended: (holder) =>
      holder.suspendedBy && performance.now() - state.backAt < returnGraceMs
        ? { ...holder, owner: holder.suspendedBy, suspendedBy: null }
        : holder,
  }
}

async function announce(
  deps: { redis: Redis; connectReader: () => Redis },
  options: PresenceOptions,
  state: State,
): Promise<string[]> {
  const { redis } = deps
  state.unansweredSince ??= performance.now()
  const { wasCutOff: mayBeBack, departures } = state
  const workers =
    mayBeBack && !(await canRead(deps, options.kinds))
      ? await announceWorker(redis, options, 0).then(() => undefined)
      : await announceWorker(redis, options, options.announcedMs).catch((error: unknown) => {
          // An error reply is also an answer.
          if (isRefusal(error)) state.unansweredSince = undefined
          throw error
        })
  state.unansweredSince = undefined
  state.announcedAt = performance.now()
  // Leave again: the worker was cut off during this call, and had left before it was announced.
  if (state.departures !== departures) await announceWorker(redis, options, 0)
  if (workers === undefined || state.wasCutOff !== mayBeBack || state.departures !== departures)
    throw new Error('Redis does not answer reads.')
  if (state.wasCutOff) state.backAt = performance.now()
  state.wasCutOff = false
  return workers
}
