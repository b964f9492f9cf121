import { sleep } from '../../async/sleep.ts'

export interface ComparisonRound<Item> {
  /** Differences by key. */
  differing: [key: string, item: Item][]
  /** Keys that could not be compared this time. */
  unstable?: string[]
}

interface Patience {
  /** Number of times that a difference must be seen to count. */
  sightings: number
  attempts: number
  /** Milliseconds of the first pause. Each later pause is longer by the same amount. */
  pauseMs: number
}

/**
 * Compares everything that differs or is unstable again, until each difference is confirmed or gone: on a live system,
 * a difference may result from reading one store after the other. Returns the confirmed differences, and the keys that
 * stayed open.
 *
 * @param look compares the given keys; undefined for all
 */
export async function confirmDifferences<Item>(
  signal: AbortSignal,
  { sightings, attempts, pauseMs }: Patience,
  look: (keys: string[] | undefined) => Promise<ComparisonRound<Item>>,
): Promise<{ confirmed: Item[]; open: string[] }> {
  const times = new Map<string, number>()
  const confirmed: Item[] = []
  let open: string[] | undefined
  for (let attempt = 0; attempt < attempts && open?.length !== 0 && !signal.aborted; attempt += 1) {
    if (attempt > 0) await sleep(pauseMs * attempt, signal)
    const { differing, unstable = [] } = await look(open)
    const before: Set<string> | undefined = open && new Set(open)
    const isOpen = (key: string) => before?.has(key) ?? true
    open = unstable.filter(isOpen)
    for (const [key, item] of differing.filter(([key]) => isOpen(key))) {
      const count = (times.get(key) ?? 0) + 1
      times.set(key, count)
      if (count === sightings) confirmed.push(item)
      else open.push(key)
    }
  }
  return { confirmed, open: open ?? [] }
}
