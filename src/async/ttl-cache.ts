/** Remembers for a short time. */
export interface TtlMap<T> {
  get(key: string): T | undefined
  set(key: string, value: T): void
  delete(key: string): void
}

interface Options {
  ms: number
  /** The number of keys; the oldest goes first. */
  max: number
}

/** `now`: ms of a monotonic clock. */
export function createTtlMap<T>({ ms, max }: Options, now = () => performance.now()): TtlMap<T> {
  const kept = new Map<string, { value: T; until: number }>()
  return {
    get(key) {
      const known = kept.get(key)
      return known !== undefined && now() < known.until ? known.value : undefined
    },
    set(key, value) {
      kept.delete(key)
      kept.set(key, { value, until: now() + ms })
      const [oldest] = kept.keys()
      if (kept.size > max && oldest !== undefined) kept.delete(oldest)
    },
    delete: (key) => void kept.delete(key),
  }
}

/** Remembers for a short time what is costly to read. Concurrent readers of one key share a read. Null is not remembered. */
export type TtlCache<T> = (key: string, read: () => Promise<T | null>) => Promise<T | null>

export function createTtlCache<T>(options: Options, now?: () => number): TtlCache<T> {
  const kept = createTtlMap<Promise<T | null>>(options, now)
  return (key, read) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const answer = read()
    const forget = () => void (kept.get(key) === answer && kept.delete(key))
    answer.then((value) => value === null && forget(), forget)
    kept.set(key, answer)
    return answer
  }
}
