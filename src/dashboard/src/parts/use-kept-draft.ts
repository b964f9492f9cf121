/** What a person has typed and not saved, kept in the browser: neither a reload nor another page loses it. */
import { useEffect, useMemo, useRef, useState } from 'react'

export interface KeptDraft<T> {
  draft: T
  /** Differs from what is stored. */
  isChanged: boolean
  /** It is from an earlier visit. */
  isRestored: boolean
  /** What is stored has changed since the draft was begun. */
  isConflict: boolean
  change: (next: T) => void
  discard: () => void
  /** After saving: from now on this is what is stored. */
  accept: (saved: T) => void
}

interface Kept<T> {
  draft: T
  /** Of what was stored when the draft was begun. */
  stamp: string
}

/** `stored` is JSON; `key` says whose draft it is. */
export function useKeptDraft<T>(key: string, stored: T): KeptDraft<T> {
  const text = useMemo(() => JSON.stringify(stored), [stored])
  const [kept] = useState(() => read<T>(key))
  const [isRestored, setRestored] = useState(kept !== undefined)
  const [{ draft, stamp }, set] = useState<Kept<T>>(() => kept ?? { draft: stored, stamp: stampOf(text) })
  const isChanged = useMemo(() => JSON.stringify(draft) !== text, [draft, text])
  // What nobody has changed follows what is stored.
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
    // At once: the page may be left before an effect runs.
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

function read<T>(key: string): Kept<T> | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as Kept<T> | null
    return kept ?? undefined
  } catch {
    // Not ours.
    return undefined
  }
}

function keep<T>(key: string, kept: Kept<T>): void {
  try {
    localStorage.setItem(key, JSON.stringify(kept))
  } catch {
    // The browser has no room, or stores nothing. The page works without.
  }
}

/** FNV-1a: two texts differ in it, in little room. */
function stampOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16)
}
