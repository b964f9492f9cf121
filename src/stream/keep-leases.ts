/**
 * Keeps the leases of one worker, and sees meanwhile who has the others. Those of lanes at rest are renewed by one statement
 * for all; a save holds the row of its lane, which is waited for by itself and delays no other.
 */
import type { Logger } from '../log.ts'
import type { Sql } from '../stores/postgres.ts'
import { type Holder, type Lease, renewLease, renewLeases } from './lease.ts'
import { untilBeat } from './pause.ts'
import { type Turns, createTurns } from './turns.ts'

/** A loop that has not got on for so long, while Postgres answers, is taken for dead. */
const WEDGED_MS = 60_000

/** When the loop of a partition last got on, by `performance.now()`. */
export interface Heart {
  beatAt: number
}

/** Renewals tell who has what, too, and that is to be known as often. */
const LOOK_MS = 1000

export interface LeaseKeeper {
  /** Who has what, as the next renewal finds it. There is none while nothing is kept. */
  nextHolders: Turns<Holder[]>['next']
  /** Resolves when the partition was lost, or at `over`; rejects when its loop is wedged. */
  keep(lease: Lease, heart: Heart, over: AbortSignal): Promise<void>
}

interface Kept {
  lease: Lease
  heart: Heart
  /** Since when Postgres has answered; undefined: it did not last time. */
  reachableSince: number | undefined
  isWaitedFor: boolean
  /** With what the loop died of. */
  end: (death?: Error) => void
}

export function keepLeases({ sql, log }: { sql: Sql; log: Logger }, leaseMs: number): LeaseKeeper {
  const kept = new Set<Kept>()
  const turns = createTurns<Holder[]>()
  let none = new AbortController()

  const keepRenewing = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      await untilBeat(Math.min(leaseMs / 3, LOOK_MS), signal)
      if (signal.aborted) return
      await renewTogether([...kept].filter(({ isWaitedFor }) => !isWaitedFor))
    }
  }
  const renewTogether = async (due: Kept[]): Promise<void> => {
    const leases = due.map(({ lease }) => lease)
    const tell = turns.begin()
    try {
      const { renewed, holders } = await renewLeases(sql, leases, leaseMs)
      for (const one of due) {
        if (renewed.has(one.lease.partition)) succeeded(one)
        else void renewAlone(one)
      }
      tell(holders)
    } catch (error) {
      failed(due, error)
    }
  }
  const renewAlone = async (one: Kept): Promise<void> => {
    one.isWaitedFor = true
    try {
      if (await renewLease(sql, one.lease, leaseMs)) succeeded(one)
      else one.end()
    } catch (error) {
      failed([one], error)
    } finally {
      one.isWaitedFor = false
    }
  }
  const succeeded = (one: Kept): void => {
    one.reachableSince ??= performance.now()
    // A save waits as long as Postgres is away; only time in which it could have gone on counts.
    if (performance.now() - Math.max(one.heart.beatAt, one.reachableSince) > WEDGED_MS)
      one.end(new Error(`The loop of ${one.lease.partition} has not got on for ${WEDGED_MS} ms.`))
  }
  const failed = (those: Kept[], error: unknown): void => {
    for (const one of those) one.reachableSince = undefined
    log.warn({ err: error, partitions: those.map(({ lease }) => lease.partition) }, 'leases could not be renewed')
  }

  return {
    nextHolders: turns.next,
    keep(lease, heart, over) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const end = (death?: Error): void => {
        over.removeEventListener('abort', onOver)
        kept.delete(one)
        if (kept.size === 0) none.abort()
        if (death) reject(death)
        else resolve()
      }
      const onOver = (): void => end()
      const one: Kept = { lease, heart, reachableSince: undefined, isWaitedFor: false, end }
      over.addEventListener('abort', onOver)
      kept.add(one)
      if (kept.size === 1) void keepRenewing((none = new AbortController()).signal)
      return promise
    },
  }
}
