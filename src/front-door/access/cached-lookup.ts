/**
 * A short-lived cache in front of Postgres for what every request needs: the holder of a key, the settings of a
 * business. A hit is used for at most 750 ms, so that a revocation takes effect within a second. A miss is remembered
 * for 5 s, and each address may look up a limited number of unknown keys, so that guesses do not overload Postgres
 * (decisions, "Envelope, errors, headers").
 */
import { LRUCache } from 'lru-cache'
import { RequestError } from '../../errors.ts'
import type { Find } from './batch-lookups.ts'
import { networkOf } from '../http/client-address.ts'

const FOUND_MS = 750
/** From this age, a value is renewed in the background, so that under load no request waits for Postgres. */
const RENEW_MS = 400
const MISSED_MS = 5_000
const LOOKUP_TIMEOUT_MS = 5_000
const MAX_REMEMBERED = 10_000
const GUESSES_PER_MINUTE = 60
const MINUTE_MS = 60_000

/**
 * Returns null when the key is unknown. `address` returns the caller's address; it is called only when the key is not
 * cached. Rejects with RequestError: `rate_limited` after too many unknown keys, `unavailable` without Postgres.
 */
export type CachedLookup<T> = (key: string, address: () => string) => T | null | Promise<T | null>

/** `now`: ms of a monotonic clock, so that cached values always expire. */
export function createCachedLookup<T extends object | string>(find: Find<T>, now: () => number): CachedLookup<T> {
  const found = openCache<T>(FOUND_MS, now)
  const missed = openCache<true>(MISSED_MS, now)
  const running = new Map<string, Promise<T | null>>()
  const guesses = createGuessCounter(now)

  async function findNow(key: string, isRenewal: boolean): Promise<T | null> {
    // Counted from the question, not from the answer.
    const start = now()
    const value = await withDeadline(find(key, isRenewal))
    if (value === null) {
      found.delete(key)
      missed.set(key, true, { start })
    } else found.set(key, value, { start })
    return value
  }
  function startLookup(key: string, isRenewal = false): Promise<T | null> {
    const answer = findNow(key, isRenewal).finally(() => running.delete(key))
    running.set(key, answer)
    return answer
  }
  function recall(key: string): T | null | Promise<T | null> | undefined {
    const known = found.get(key)
    if (known !== undefined) {
      // A failed renewal affects only requests that can no longer use the cached value.
      if (found.getRemainingTTL(key) <= FOUND_MS - RENEW_MS && !running.has(key))
        startLookup(key, true).catch(() => undefined)
      return known
    }
    return missed.has(key) ? null : running.get(key)
  }

  async function lookUp(key: string, address: () => string): Promise<T | null> {
    for (;;) {
      const recalled = recall(key)
      if (recalled !== undefined) return recalled
      // A key that was known is not a guess.
      if (found.peek(key, { allowStale: true }) !== undefined) return startLookup(key)
      const network = networkOf(address())
      const turn = guesses.waitForTurn(network)
      if (turn === null) return guesses.watch(network, startLookup(key))
      await turn
    }
  }
  // Cached values are returned without a promise, which would cost time in every request.
  return (key, address) => {
    const recalled = recall(key)
    return recalled === undefined ? lookUp(key, address) : recalled
  }
}

const openCache = <V extends object | string | true>(ttl: number, now: () => number): LRUCache<string, V> =>
  new LRUCache({ max: MAX_REMEMBERED, ttl, ttlResolution: 0, perf: { now }, noDeleteOnStaleGet: true })

interface Guesser {
  guesses: number
  /** Lookups of unknown keys that are still running. */
  pending: Set<Promise<unknown>>
}

/**
 * Counts failed lookups per address in fixed windows of a minute. Running lookups count as failed until they end: at
 * the limit, another lookup waits for one of them.
 */
function createGuessCounter(now: () => number) {
  const windows = openCache<Guesser>(MINUTE_MS, now)
  const windowOf = (address: string): Guesser => {
    const window = windows.get(address) ?? { guesses: 0, pending: new Set() }
    if (!windows.has(address)) windows.set(address, window)
    return window
  }
  return {
    watch<T>(address: string, answer: Promise<T | null>): Promise<T | null> {
      const window = windowOf(address)
      const counted = answer
        .then((value) => {
          if (value === null) window.guesses += 1
          return value
        })
        .finally(() => window.pending.delete(counted))
      window.pending.add(counted)
      return counted
    },
    /** Returns null when the lookup may start now. Throws RequestError `rate_limited`. */
    waitForTurn(address: string): Promise<unknown> | null {
      const window = windows.get(address)
      if (window === undefined) return null
      if (window.guesses >= GUESSES_PER_MINUTE) {
        const seconds = Math.ceil(windows.getRemainingTTL(address) / 1000)
        throw new RequestError('rate_limited', { headers: { 'Retry-After': String(seconds) } })
      }
      return window.guesses + window.pending.size < GUESSES_PER_MINUTE ? null : Promise.race(window.pending)
    },
  }
}

/** Rejects with `unavailable` when Postgres fails or hangs: a valid key must never be called invalid for that. */
async function withDeadline<T>(pending: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer after ${LOOKUP_TIMEOUT_MS} ms`)), LOOKUP_TIMEOUT_MS)
  try {
    return await Promise.race([pending, late])
  } catch (cause) {
    throw new RequestError('unavailable', { headers: { 'Retry-After': '1' }, cause })
  } finally {
    clearTimeout(timer)
  }
}
