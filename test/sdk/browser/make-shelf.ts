import type { Shelf } from '../../../src/sdk/browser/open-store.ts'

/** Imitates the storage of browsers: stored items are its own keys. */
export function makeShelf(room = Infinity): Shelf {
  const methods = {
    getItem(this: Record<string, string>, key: string) {
      return this[key] ?? null
    },
    setItem(this: Record<string, string>, key: string, value: string) {
      if (Object.keys(this).length >= room && !(key in this)) throw new Error('QuotaExceededError')
      this[key] = value
    },
    removeItem(this: Record<string, string>, key: string) {
      delete this[key]
    },
  }
  return Object.create(methods) as Shelf
}
