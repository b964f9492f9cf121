/** Strings of this origin. */
export interface Store {
  get(key: string): string | null
  set(key: string, value: string): void
  remove(key: string): void
  keys(): string[]
  /** False for what ends with the page. */
  lasts(key: string): boolean
}

/** As much of the browser's `Storage` as is used; its own enumerable keys are what it holds. */
export interface Shelf {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

/** What the shelf does not take (there is none, it is full, it is denied) stays in memory as long as the page. */
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
