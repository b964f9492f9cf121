/** Unsaved input, kept in the browser: it survives a reload or a visit to another page. */
import { useEffect, useMemo, useRef, useState } from 'react'

export interface KeptDraft<T> {
  draft: T
  /** True when the draft differs from what is stored. */
  isChanged: boolean
  /** True when the draft is from an earlier visit. */
  isRestored: boolean
  /** True when the stored data has changed since the draft was begun. */
  isConflict: boolean
  change: (next: T) => void
  discard: () => void
  /** Call this after saving: `saved` is now what is stored. */
  accept: (saved: T) => void
}

interface StoredDraft<T> {
  draft: T
  /** Hash of the data that was stored when the draft was begun. */
  stamp: string
}

/** `stored` must be JSON. `key` identifies the draft. */
export function useKeptDraft<T>(key: string, stored: T): KeptDraft<T> {
  const text = useMemo(() => JSON.stringify(stored), [stored])
  const [kept] = useState(() => read<T>(key))
  const [isRestored, setRestored] = useState(kept !== undefined)
  const [{ draft, stamp }, set] = useState<StoredDraft<T>>(() => kept ?? { draft: stored, stamp: stampOf(text) })
  const isChanged = useMemo(() => JSON.stringify(draft) !== text, [draft, text])
  // An unchanged draft follows what is stored.
  const before = useRef(text)
  useEffect(() => {
    const wasChanged = JSON.stringify(draft) !== before.current
    before.current = text
    if (!wasChanged && isChanged) set({ draft: stored, stamp: stampOf(text) })
  }, [text])
  useEffect(() => {
    if (isChanged) keep(key, { draft, stamp })
    else localStorage.removeItem(key)
  }, [key, draft, stamp, isChanged])
  const accept = (saved: T) => {
    setRestored(false)
    // Remove it immediately: the person may leave the page before an effect runs.
    localStorage.removeItem(key)
    set({ draft: saved, stamp: stampOf(JSON.stringify(saved)) })
  }
  return {
    draft,
    isChanged,
    isRestored: isRestored && isChanged,
    isConflict: isChanged && stamp !== stampOf(text),
    change: (next) => set({ draft: next, stamp }),
    discard: () => accept(stored),
    accept,
  }
}

function read<T>(key: string): StoredDraft<T> | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as StoredDraft<T> | null
    return kept ?? undefined
  } catch {
    // Not a draft of this code.
    return undefined
  }
}

function keep<T>(key: string, kept: StoredDraft<T>): void {
  try {
    localStorage.setItem(key, JSON.stringify(kept))
  } catch {
    // The browser has no space, or storage is disabled. The page works without it.
  }
}

/** FNV-1a: a short hash that shows whether two texts differ. */
function stampOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16)
}
