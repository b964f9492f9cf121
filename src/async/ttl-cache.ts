/** Remembers for a short time what is costly to read. Concurrent readers of one key share a read. Null is not remembered. */
export type TtlCache<T> = (key: string, read: () => Promise<T | null>) => Promise<T | null>

/** `max`: the number of keys; the oldest goes first. `now`: ms of a monotonic clock. */
export function createTtlCache<T>(
  { ms, max }: { ms: number; max: number },
  now = () => performance.now(),
): TtlCache<T> {
  const kept = new Map<string, { answer: Promise<T | null>; until: number }>()
  return (key, read) => {
    const known = kept.get(key)
    if (known !== undefined && now() < known.until) return known.answer
    const entry = { answer: read(), until: now() + ms }
    const forget = () => void (kept.get(key) === entry && kept.delete(key))
    entry.answer.then((value) => value === null && forget(), forget)
    kept.delete(key)
    kept.set(key, entry)
    const [oldest] = kept.keys()
    if (kept.size > max && oldest !== undefined) kept.delete(oldest)
    return entry.answer
  }
}
