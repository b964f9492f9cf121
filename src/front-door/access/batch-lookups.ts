/**
 * Combines single lookups into a few queries. With a thousand active businesses, each key is looked up twice a second,
 * mostly while no request waits for it.
 */
import { setImmediate } from 'node:timers'
import DataLoader from 'dataloader'

/** Milliseconds by which a renewal is delayed, so that those of that time share a query. */
const RENEWAL_DELAY_MS = 10
/** Keys per query. */
const MAX_KEYS_PER_QUERY = 1000

/** `isRenewal`: true when no request waits for the result. */
export type Find<T> = (key: string, isRenewal: boolean) => Promise<T | null>

/** `find` returns the values that it found, by key. When it rejects, every lookup of that query rejects. */
export function batchLookups<T>(find: (keys: string[]) => Promise<Map<string, T>>): Find<T> {
  /** Sends the query of the latest keys, unless it was sent. */
  let send = (): void => undefined
  const loader = new DataLoader<string, T | null>(
    async (keys) => {
      const found = await find([...new Set(keys)])
      return keys.map((key) => found.get(key) ?? null)
    },
    {
      cache: false,
      maxBatchSize: MAX_KEYS_PER_QUERY,
      batchScheduleFn(run) {
        let isSent = false
        send = () => {
          if (!isSent) run()
          isSent = true
        }
        setTimeout(send, RENEWAL_DELAY_MS)
      },
    },
  )
  return (key, isRenewal) => {
    const found = loader.load(key)
    if (!isRenewal) setImmediate(send)
    return found
  }
}
