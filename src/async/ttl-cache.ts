interface Options<T> {
  ms: number
  /** The number of keys; the oldest goes first. */
  max: number
  /** Whether an answer is remembered. Left out: any but null. */
  isKept?: (answer: T) => boolean
}

/** Remembers for a short time what is costly to read. Concurrent readers of one key share a read. */
export type TtlCache<T> = (key: string, read: () => Promise<T>) => Promise<T>

/** `now`: ms of a monotonic clock. */
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
