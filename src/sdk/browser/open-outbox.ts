/** What is to be sent, kept until it is taken: across pages, shared by the tabs of an origin, bounded. */
import type { Store } from './open-store.ts'
import { readJson } from './read-json.ts'
import { warn } from './warn.ts'

export type Route = 'track' | 'identify' | 'capture'

export interface Item {
  route: Route
  /** When it happened, epoch ms. */
  at: number
  /** With an id of its own, so that sending it twice counts once. */
  body: Record<string, unknown>
  /** How often the service failed on it. */
  failures?: number
}

export interface Pending extends Item {
  key: string
}

export interface Outbox {
  /** False when there are too many already. */
  add(item: Item): boolean
  /** Oldest first, of this business; forgets what is too old, of any. */
  list(): Pending[]
  /** True for what this page added. */
  isOwn(item: Pending): boolean
  remove(item: Pending): void
  /** Counts a failure; what fails too often is given up. */
  fail(item: Pending): void
  /** Also what waits for another business: the visitor's no is for the whole site. */
  clear(): void
}

export const MAX_CALLS = 100
export const MAX_HITS = 400
export const MAX_FAILURES = 10
export const MAX_AGE_MS = 7 * 86_400_000

const PREFIX = 'sluice_out_'

/** Every item has a key of its own, so that tabs never overwrite each other's; keys sort by time. `page` is unlike any other's. */
export function openOutbox(store: Store, business: string, now: () => number, page: string): Outbox {
  const own = `${PREFIX}${business}_`
  let count = 1e6
  const listKeys = (prefix: string) =>
    store
      .keys()
      .filter((key) => key.startsWith(prefix))
      .sort()
  const write = ({ key, ...item }: Pending) => store.set(key, JSON.stringify(item))
  const read = (key: string): Pending[] => {
    const item = readJson(store.get(key)) as Item | undefined
    if (item && now() - item.at < MAX_AGE_MS) return [{ ...item, key }]
    store.remove(key)
    return []
  }
  return {
    add(item) {
      const alike = listKeys(own).filter((key) => key.endsWith(item.route))
      const hasRoom = alike.length < (item.route === 'capture' ? MAX_HITS : MAX_CALLS)
      if (hasRoom) write({ ...item, key: `${own}${item.at}_${count++}_${page}_${item.route}` })
      else warn(`too much waits to be sent: a ${item.route} is lost`)
      return hasRoom
    },
    // What waits for another business grows old as well.
    list: () =>
      listKeys(PREFIX)
        .flatMap(read)
        .filter(({ key }) => key.startsWith(own)),
    isOwn: ({ key }) => key.includes(page),
    remove: ({ key }) => store.remove(key),
    fail(item) {
      const failures = (item.failures ?? 0) + 1
      if (failures >= MAX_FAILURES) store.remove(item.key)
      // Another tab may have had more luck.
      else if (store.get(item.key) !== null) write({ ...item, failures })
    },
    clear: () => listKeys(PREFIX).forEach(store.remove),
  }
}
