/** Many small questions as few large ones: in traffic of a thousand businesses each key is asked for twice a second. */
import { setImmediate } from 'node:timers'

/** What nobody waits for is asked so much later, with all else of its kind that comes by then. */
const LINGER_MS = 25
/** Keys of one question. */
const MOST_AT_ONCE = 1000

/** `isRenewal`: nobody waits for it. */
export type Find<T> = (key: string, isRenewal: boolean) => Promise<T | null>

/** `find` answers by key, without those that it did not find. When it rejects, so does each question of that time. */
export function batchLookups<T>(find: (keys: string[]) => Promise<Map<string, T>>): Find<T> {
  let due = new Map<string, PromiseWithResolvers<T | null>>()
  let isSoon = false
  let lingering: ReturnType<typeof setTimeout> | undefined

  async function askSome(some: [string, PromiseWithResolvers<T | null>][]): Promise<void> {
    try {
      const found = await find(some.map(([key]) => key))
      for (const [key, { resolve }] of some) resolve(found.get(key) ?? null)
    } catch (error) {
      for (const [, { reject }] of some) reject(error)
    }
  }
  function askAll(): void {
    const all = [...due]
    due = new Map()
    isSoon = false
    clearTimeout(lingering)
    lingering = undefined
    for (let at = 0; at < all.length; at += MOST_AT_ONCE) void askSome(all.slice(at, at + MOST_AT_ONCE))
  }

  return (key, isRenewal) => {
    const asked = due.get(key) ?? Promise.withResolvers<T | null>()
    due.set(key, asked)
    if (isRenewal) lingering ??= setTimeout(askAll, LINGER_MS)
    else if (!isSoon) {
      isSoon = true
      setImmediate(askAll)
    }
    return asked.promise
  }
}
