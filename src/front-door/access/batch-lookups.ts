/**
 * Combines single lookups into a few queries. With a thousand active businesses, each key is looked up twice a second.
 */
import { setImmediate } from 'node:timers'

/** Milliseconds by which a renewal is delayed, so that renewals of that time share a query. */
const RENEWAL_DELAY_MS = 25
/** Keys per query. */
const MAX_KEYS_PER_QUERY = 1000

/** `isRenewal`: true when no request waits for the result. */
export type Find<T> = (key: string, isRenewal: boolean) => Promise<T | null>

/** `find` returns the values that it found, by key. When it rejects, every lookup of that query rejects. */
export function batchLookups<T>(find: (keys: string[]) => Promise<Map<string, T>>): Find<T> {
  let due = new Map<string, PromiseWithResolvers<T | null>>()
  let isSoon = false
  let renewalTimer: ReturnType<typeof setTimeout> | undefined

  async function runLookup(lookups: [string, PromiseWithResolvers<T | null>][]): Promise<void> {
    try {
      const found = await find(lookups.map(([key]) => key))
      for (const [key, { resolve }] of lookups) resolve(found.get(key) ?? null)
    } catch (error) {
      for (const [, { reject }] of lookups) reject(error)
    }
  }
  function flush(): void {
    const all = [...due]
    due = new Map()
    isSoon = false
    clearTimeout(renewalTimer)
    renewalTimer = undefined
    for (let at = 0; at < all.length; at += MAX_KEYS_PER_QUERY) void runLookup(all.slice(at, at + MAX_KEYS_PER_QUERY))
  }

  return (key, isRenewal) => {
    const pending = due.get(key) ?? Promise.withResolvers<T | null>()
    due.set(key, pending)
    if (isRenewal) renewalTimer ??= setTimeout(flush, RENEWAL_DELAY_MS)
    else if (!isSoon) {
      isSoon = true
      setImmediate(flush)
    }
    return pending.promise
  }
}
