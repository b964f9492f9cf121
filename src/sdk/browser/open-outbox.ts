/** Stores items until they are accepted: across pages, shared by the tabs of an origin, and limited in number. */
import type { Store } from './open-store.ts'
import { readJson } from './read-json.ts'
import { warn } from './warn.ts'

export type Route = 'track' | 'identify' | 'capture'

export interface Item {
  route: Route
  /** Time of the call or capture, in epoch milliseconds. */
  at: number
  /** Has its own id, so that a resent item counts only once. */
  body: Record<string, unknown>
  /** Number of failures of the service on this item. */
  failures?: number
}

export interface Pending extends Item {
  key: string
}

export interface Outbox {
  /** Returns false when there are already too many items. */
  add(item: Item): boolean
  /** Returns the items of this business, oldest first. Removes items of any business that are too old. */
  list(): Pending[]
  /** Returns whether this page added the item. */
  isOwn(item: Pending): boolean
  remove(item: Pending): void
  /** Counts a failure. Drops an item that has failed too often. */
  fail(item: Pending): void
  /** Also removes items of other businesses, because the visitor's refusal applies to the whole site. */
  clear(): void
}

export const MAX_CALLS = 100
export const MAX_HITS = 400
export const MAX_FAILURES = 10
export const MAX_AGE_MS = 7 * 86_400_000

const PREFIX = 'sluice_out_'

/**
 * Every item has its own key, so that tabs never overwrite each other's items. Keys sort by time. `page`: an id unique
 * to this page.
 */
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
    // Items of other businesses expire, too.
    list: () =>
      listKeys(PREFIX)
        .flatMap(read)
        .filter(({ key }) => key.startsWith(own)),
    isOwn: ({ key }) => key.includes(page),
    remove: ({ key }) => store.remove(key),
    fail(item) {
      const failures = (item.failures ?? 0) + 1
      if (failures >= MAX_FAILURES) store.remove(item.key)
      // Another tab may have succeeded.
      else if (store.get(item.key) !== null) write({ ...item, failures })
    },
    clear: () => listKeys(PREFIX).forEach(store.remove),
  }
}
