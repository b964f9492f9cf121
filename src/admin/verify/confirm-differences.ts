import { sleep } from '../../async/sleep.ts'

export interface ComparisonRound<Item> {
  /** What differs, by key. */
  differing: [key: string, item: Item][]
  /** Keys of what could not be compared now. */
  unstable?: string[]
}

interface Patience {
  /** A difference counts when it was seen this many times. */
  sightings: number
  attempts: number
  /** The first pause. Each is longer by this. */
  pauseMs: number
}

/**
 * Looks again at what differs or is unstable until each is confirmed or gone: on a live system, a difference may come from
 * reading one store after the other. Returns the confirmed differences, and the keys that stayed open.
 *
 * @param look `keys`: what to look at, undefined for all
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
