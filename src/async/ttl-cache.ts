interface Options<T> {
  ms: number
  /** Maximum number of keys. The oldest is removed first. */
  max: number
  /** Returns whether a result is cached. Default: any result except null. */
  isKept?: (answer: T) => boolean
}

/** Caches results of expensive reads for a short time. Concurrent readers of a key share one read. */
export type TtlCache<T> = (key: string, read: () => Promise<T>) => Promise<T>

/** `now`: returns milliseconds of a monotonic clock. */
export function createTtlCache<T>(
  { ms, max, isKept = (answer) => answer !== null }: Options<T>,
  now = () => performance.now(),
): TtlCache<T> {
  const kept = new Map<string, { answer: Promise<T>; until: number }>()
  return (key, read) => {
    const known = kept.get(key)
    if (known !== undefined && now() < known.until) return known.answer
    const answer = read()
    const forget = () => void (kept.get(key)?.answer === answer && kept.delete(key))
    answer.then((value) => !isKept(value) && forget(), forget)
    kept.delete(key)
    kept.set(key, { answer, until: now() + ms })
    const [oldest] = kept.keys()
    if (kept.size > max && oldest !== undefined) kept.delete(oldest)
    return answer
  }
}
