/** Drafts in the browser, by key. `session` ends with the tab. */
export interface StoredDraft<T> {
  draft: T
  /** What was stored on the server when the draft was begun. */
  stamp: string
}

export interface DraftPlace {
  storage: 'local' | 'session'
  key: string
}

const storageOf = ({ storage }: DraftPlace): Storage => (storage === 'local' ? localStorage : sessionStorage)

export const hasDraft = (place: DraftPlace): boolean => storageOf(place).getItem(place.key) !== null

export function readDraft<T>(place: DraftPlace): StoredDraft<T> | undefined {
  try {
    const read = JSON.parse(storageOf(place).getItem(place.key) ?? 'null') as StoredDraft<T> | null
    // An earlier release stored the draft without its stamp.
    return read?.stamp === undefined ? undefined : read
  } catch {
    // Not a draft of this code.
    return undefined
  }
}

export function writeDraft<T>(place: DraftPlace, stored: StoredDraft<T>): void {
  try {
    storageOf(place).setItem(place.key, JSON.stringify(stored))
  } catch {
    // The browser has no space, or storage is disabled. The page works without it.
  }
}

export const removeDraft = (place: DraftPlace): void => storageOf(place).removeItem(place.key)
