/**
 * Combines single lookups into a few queries. With a thousand active businesses, each key is looked up twice a second,
 * mostly while no request waits for it.
 */
import DataLoader from 'dataloader'

/** Milliseconds for which a lookup waits, so that those of that time share a query. */
const DELAY_MS = 10
/** Keys per query. */
const MAX_KEYS_PER_QUERY = 1000

/** `find` returns the values that it found, by key. When it rejects, every lookup of that query rejects. */
export function batchLookups<T>(find: (keys: string[]) => Promise<Map<string, T>>): (key: string) => Promise<T | null> {
  const loader = new DataLoader<string, T | null>(
    async (keys) => {
      const found = await find([...new Set(keys)])
      return keys.map((key) => found.get(key) ?? null)
    },
    { cache: false, maxBatchSize: MAX_KEYS_PER_QUERY, batchScheduleFn: (run) => void setTimeout(run, DELAY_MS) },
  )
  return async (key) => await loader.load(key)
}
