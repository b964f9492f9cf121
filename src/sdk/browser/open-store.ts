/** String storage for this origin. */
export interface Store {
  get(key: string): string | null
  set(key: string, value: string): void
  remove(key: string): void
  keys(): string[]
  /** Returns false for an item that is lost when the page ends. */
  lasts(key: string): boolean
}

/** The part of the browser's `Storage` that is used. Its own enumerable keys are the stored keys. */
export interface Shelf {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

/**
 * Items that the browser's storage does not accept (missing, full, denied) remain in memory for the life of the page.
 */
export function openStore(shelf: () => Shelf): Store {
  const memory = new Map<string, string>()
  const attempt = <T>(work: (shelf: Shelf) => T): T | undefined => {
    try {
      return work(shelf())
    } catch {
      return undefined
    }
  }
  return {
    get: (key) => memory.get(key) ?? attempt((shelf) => shelf.getItem(key)) ?? null,
    set(key, value) {
      memory.set(key, value)
      attempt((shelf) => {
        shelf.setItem(key, value)
        memory.delete(key)
      })
    },
    remove(key) {
      memory.delete(key)
      attempt((shelf) => shelf.removeItem(key))
    },
    keys: () => [...memory.keys(), ...(attempt(Object.keys) ?? [])],
    lasts: (key) => !memory.has(key),
  }
}
