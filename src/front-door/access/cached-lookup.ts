/**
 * Short memory in front of Postgres for what every request asks: whose key is this, what has this business chosen.
 * What was found is trusted for 750 ms at most, so that a revocation takes effect within a second; what was not found is
 * remembered for 5 s, and each address may ask for a limited number of unknown things, so that guessing does not reach
 * Postgres (decisions, "Envelope, errors, headers").
 */
import { RequestError } from '../../errors.ts'
import type { Find } from './batch-lookups.ts'
import { networkOf } from '../http/client-address.ts'

const FOUND_MS = 750
/** From this age on it is asked for again, beside the requests: in traffic nobody waits for Postgres. */
const RENEW_MS = 400
/** From this age on somebody may wait for it soon. */
const HURRY_MS = 700
const MISSED_MS = 5_000
const ASK_DEADLINE_MS = 5_000
const MAX_REMEMBERED = 10_000
const GUESSES_PER_MINUTE = 60
const MINUTE_MS = 60_000

/**
 * Null when there is no such thing. `address` is that of the caller, asked for when the key is not remembered. Rejects with
 * RequestError: `rate_limited` for a guesser, `unavailable` without Postgres.
 */
export type CachedLookup<T> = (key: string, address: () => string) => T | null | Promise<T | null>

/** `now` in ms, of a clock that never goes back: trust must end. */
export function createCachedLookup<T>(find: Find<T>, now: () => number): CachedLookup<T> {
  const found = new Map<string, { value: T; at: number }>()
  const missed = new Map<string, number>()
  const asking = new Map<string, Promise<T | null>>()
  const guesses = createGuessCounter(now)

  async function findNow(key: string, isRenewal: boolean): Promise<T | null> {
    const at = now()
    const value = await withDeadline(find(key, isRenewal))
    if (value === null) {
      found.delete(key)
      remember(missed, key, at)
    } else remember(found, key, { value, at })
    return value
  }
  function ask(key: string, isRenewal = false): Promise<T | null> {
    const answer = findNow(key, isRenewal).finally(() => asking.delete(key))
    asking.set(key, answer)
    return answer
  }
  function recall(key: string): T | null | Promise<T | null> | undefined {
    const known = found.get(key)
    const age = known === undefined ? Infinity : now() - known.at
    // A failure is told to those who come too late to be served from memory.
    if (age >= RENEW_MS && age < FOUND_MS && !asking.has(key)) ask(key, age < HURRY_MS).catch(() => undefined)
    if (known !== undefined && age < FOUND_MS) return known.value
    if (now() - (missed.get(key) ?? -Infinity) < MISSED_MS) return null
    return asking.get(key)
  }

  async function lookFor(key: string, address: () => string): Promise<T | null> {
    for (;;) {
      const recalled = recall(key)
      if (recalled !== undefined) return recalled
      if (found.has(key)) return ask(key)
      const network = networkOf(address())
      const turn = guesses.waitForTurn(network)
      if (turn === null) return guesses.watch(network, ask(key))
      await turn
    }
  }
  /** What is remembered is there at once: nobody pays for a promise. */
  return (key, address) => {
    const recalled = recall(key)
    return recalled === undefined ? lookFor(key, address) : recalled
  }
}

/** Keeps a map bounded by forgetting what was put in first. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > MAX_REMEMBERED && oldest !== undefined) map.delete(oldest)
}

interface Guesser {
  guesses: number
  /** Of what was unknown: not answered yet. */
  asked: Set<Promise<unknown>>
  ends: number
}

/**
 * Counts failed look-ups per address in fixed windows of a minute. As many are under way at once as may still turn out to be
 * guesses; who asks for more waits for one of them.
 */
function createGuessCounter(now: () => number) {
  const windows = new Map<string, Guesser>()
  const current = (address: string) => {
    const window = windows.get(address)
    return window !== undefined && window.ends > now() ? window : undefined
  }
  return {
    watch<T>(address: string, answer: Promise<T | null>): Promise<T | null> {
      const window = current(address) ?? { guesses: 0, asked: new Set(), ends: now() + MINUTE_MS }
      remember(windows, address, window)
      const counted = answer
        .then((value) => {
          if (value === null) window.guesses += 1
          return value
        })
        .finally(() => window.asked.delete(counted))
      window.asked.add(counted)
      return counted
    },
    /** Null when it is one's turn. Throws RequestError `rate_limited`. */
    waitForTurn(address: string): Promise<unknown> | null {
      const window = current(address)
      if (window === undefined) return null
      if (window.guesses >= GUESSES_PER_MINUTE) {
        const seconds = Math.ceil((window.ends - now()) / 1000)
        throw new RequestError('rate_limited', { headers: { 'Retry-After': String(seconds) } })
      }
      return window.guesses + window.asked.size < GUESSES_PER_MINUTE ? null : Promise.race(window.asked)
    },
  }
}

/** A Postgres that fails or hangs is our trouble: never a reason to call a key invalid. */
async function withDeadline<T>(asked: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer after ${ASK_DEADLINE_MS} ms`)), ASK_DEADLINE_MS)
  try {
    return await Promise.race([asked, late])
  } catch (cause) {
    throw new RequestError('unavailable', { headers: { 'Retry-After': '1' }, cause })
  } finally {
    clearTimeout(timer)
  }
}
