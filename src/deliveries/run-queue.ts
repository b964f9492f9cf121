/**
 * Runs the queue of deliveries: claims due ones, attempts to send them, and records the outcomes.
 */
import type { Logger } from '../log.ts'
import { sleep } from '../async/sleep.ts'
import { NO_WAKE_UPS, type WakeUps } from '../stores/wake-ups.ts'
import type { SendResult } from '../outbound/send-result.ts'

/** The operations of one queue. */
export interface OutboundQueue<Claimed extends { id: string }> {
  /** The name of an item in log lines, such as "delivery". */
  itemName: string
  /** Claims up to `max` due items for `leaseMs`. After that, items without a recorded outcome can be claimed again. */
  claim(limits: { max: number; leaseMs: number }): Promise<Claimed[]>
  /** Sends one item. Ends when `signal` aborts. */
  attempt(claimed: Claimed, signal: AbortSignal): Promise<SendResult>
  /** Records the result of an attempt; does nothing when the claim has expired. */
  record(claimed: Claimed, result: SendResult): Promise<void>
  /** Deletes old finished items. Returns `more` when there may be more of them. */
  purge(): Promise<'more' | 'done'>
}

export interface QueueOptions {
  /** Time limit of one attempt, in milliseconds. */
  attemptMs?: number
  /** Duration of a claim in milliseconds. Must be longer than two attempts. */
  leaseMs?: number
  wakeUps?: WakeUps
}

const POLL_MS = 1000
const PURGE_MS = 60_000
const MAX_IN_FLIGHT = 32
const ATTEMPT_MS = 10_000
const LEASE_MS = 30_000
/** Pause after a Postgres error. */
const ERROR_PAUSE_MS = 3000

/** The process was paused too long: the claim may expire during the attempt, and another sender may send the item. */
const PAUSED: SendResult = { kind: 'retry', reason: 'the sending process was paused', unsent: true }

/**
 * Sends until `signal` aborts, then finishes the items in flight. Any number of processes may run it: only one at a
 * time sends an item. An item is sent twice only if its sender died or was too late.
 */
export async function runQueue<Claimed extends { id: string }>(
  queue: OutboundQueue<Claimed>,
  log: Logger,
  { attemptMs = ATTEMPT_MS, leaseMs = LEASE_MS, wakeUps = NO_WAKE_UPS }: QueueOptions,
  signal: AbortSignal,
): Promise<void> {
  const inFlight = new Set<Promise<void>>()
  let purgeAt = 0

  /** Never rejects. If the outcome cannot be recorded, the item is sent again after its claim has expired. */
  const process = async (claimed: Claimed, startBy: number): Promise<void> => {
    try {
      const isLate = performance.now() > startBy
      const result = isLate ? PAUSED : await queue.attempt(claimed, AbortSignal.timeout(attemptMs))
      await queue.record(claimed, result)
    } catch (error) {
      log.warn({ err: error, [queue.itemName]: claimed.id }, `the result of a ${queue.itemName} could not be recorded`)
    }
  }
  while (!signal.aborted) {
    wakeUps.clear()
    try {
      if (performance.now() >= purgeAt) {
        purgeAt = performance.now() + PURGE_MS
        // The rest is purged after the next batch of sends.
        if ((await queue.purge()) === 'more') purgeAt = 0
      }
      const claimedAt = performance.now()
      const room = MAX_IN_FLIGHT - inFlight.size
      for (const one of room === 0 ? [] : await queue.claim({ max: room, leaseMs })) {
        const done = process(one, claimedAt + leaseMs - 2 * attemptMs).finally(() => inFlight.delete(done))
        inFlight.add(done)
      }
      // Waits until an item is finished or the next poll is due, so that an item that hangs does not delay the others.
      await Promise.race([...inFlight, wakeUps.sleep(POLL_MS, signal)])
    } catch (error) {
      log.warn({ err: error }, `the ${queue.itemName} queue cannot be read, trying again`)
      await sleep(ERROR_PAUSE_MS, signal)
    }
  }
  await Promise.all(inFlight)
}
