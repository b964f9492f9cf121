/** Sends what is due in a queue in Postgres: claim, attempt, settle. Deliveries use it, and so can every other sender. */
import type { Logger } from '../log.ts'
import { sleep, untilNextTick } from '../async/sleep.ts'
import type { Verdict } from './verdict.ts'

/** A queue of work that is claimed for a time, attempted, and settled. */
export interface OutboundQueue<Claimed extends { id: string }> {
  /** What one item is called in log lines: "delivery". */
  itemName: string
  /** Whether there can be anything to send at all; asked rarely until it is true. */
  isWanted(): Promise<boolean>
  /** Claims up to `max` items that are due, for `leaseMs`: a claim that is not settled by then is free again. */
  claim(limits: { max: number; leaseMs: number }): Promise<Claimed[]>
  /** Until `signal` aborts. */
  attempt(claimed: Claimed, signal: AbortSignal): Promise<Verdict>
  /** Records the result of an attempt; does nothing when the claim ran out. */
  settle(claimed: Claimed, verdict: Verdict): Promise<void>
  /** Deletes what has been settled for long enough; `more` when something is left to delete. */
  purge(): Promise<'more' | 'done'>
}

export interface QueueOptions {
  /** For how long one attempt may take. */
  attemptMs?: number
  /** More than two attempts. */
  leaseMs?: number
}

const POLL_MS = 1000
/** How often it is asked whether anything is wanted, where nothing was wanted so far. */
const UNWANTED_MS = 5000
const PURGE_MS = 60_000
const MAX_IN_FLIGHT = 32
const ATTEMPT_MS = 10_000
const LEASE_MS = 30_000
/** After trouble with Postgres. */
const TROUBLE_MS = 3000

/** The sender was paused for so long that the claim may run out during the attempt: then it is another sender's. */
const PAUSED: Verdict = { kind: 'retry', reason: 'its sender was paused', unsent: true }

/**
 * Sends until `signal` aborts, then finishes what is in flight. Any number of processes may run it: each item is sent by one
 * at a time, and more than once only when its sender died or came too late.
 */
export async function runQueue<Claimed extends { id: string }>(
  queue: OutboundQueue<Claimed>,
  log: Logger,
  { attemptMs = ATTEMPT_MS, leaseMs = LEASE_MS }: QueueOptions,
  signal: AbortSignal,
): Promise<void> {
  const inFlight = new Set<Promise<void>>()
  let isWanted = false
  let purgeAt = 0

  /** Never rejects. What could not be recorded is sent again when its claim has run out. */
  const process = async (claimed: Claimed, startBy: number): Promise<void> => {
    try {
      const isLate = performance.now() > startBy
      const verdict = isLate ? PAUSED : await queue.attempt(claimed, AbortSignal.timeout(attemptMs))
      await queue.settle(claimed, verdict)
    } catch (error) {
      log.warn({ err: error, [queue.itemName]: claimed.id }, `the result of a ${queue.itemName} could not be recorded`)
    }
  }
  while (!signal.aborted) {
    try {
      isWanted ||= await queue.isWanted()
      if (!isWanted) {
        await untilNextTick(UNWANTED_MS, signal)
        continue
      }
      if (performance.now() >= purgeAt) {
        purgeAt = performance.now() + PURGE_MS
        // The rest has its turn after the sending.
        if ((await queue.purge()) === 'more') purgeAt = 0
      }
      const claimedAt = performance.now()
      for (const one of await queue.claim({ max: MAX_IN_FLIGHT - inFlight.size, leaseMs })) {
        const done = process(one, claimedAt + leaseMs - 2 * attemptMs).finally(() => inFlight.delete(done))
        inFlight.add(done)
      }
      // Until a place is free again, or something else may be due: one that hangs delays no other.
      await Promise.race([...inFlight, sleep(POLL_MS, signal)])
    } catch (error) {
      log.warn({ err: error }, `the queue of ${queue.itemName} rows cannot be read, trying again`)
      await sleep(TROUBLE_MS, signal)
    }
  }
  await Promise.all(inFlight)
}
