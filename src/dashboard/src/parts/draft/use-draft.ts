/** Unsaved input, kept in the browser: it survives a reload or a visit to another page. */
import { useEffect, useMemo, useRef, useState } from 'react'
import { type DraftPlace, type StoredDraft, readDraft, removeDraft, writeDraft } from './stored-drafts.ts'

export interface DraftState<T> {
  draft: T
  /** True when the draft differs from what is stored. */
  isChanged: boolean
  /** True when the draft is from an earlier visit. */
  isRestored: boolean
  /** True when the stored data has changed since the draft was begun. */
  isConflict: boolean
  /** Replaces the draft, or computes it from the latest one. */
  change: (next: T | ((before: T) => T)) => void
  discard: () => void
  /** Call this after saving: `saved` is now what is stored. */
  accept: (saved: T) => void
}

interface DraftOptions<T> extends DraftPlace {
  /** Drafts with the same text are the same. Default: their JSON. */
  textOf?: (draft: T) => string
  /** Differs when the stored data has changed. Default: a hash of its text. */
  stampOf?: (stored: T) => string
}

/** `stored` must be JSON. `key` identifies the draft. */
export function useDraft<T>(stored: T, { storage, key, textOf = jsonOf, stampOf }: DraftOptions<T>): DraftState<T> {
  const place = { storage, key }
  const text = useMemo(() => textOf(stored), [stored])
  const stampFor = (data: T): string => stampOf?.(data) ?? hashOf(textOf(data))
  const [read] = useState(() => readDraft<T>(place))
  const [isRestored, setRestored] = useState(read !== undefined)
  const [{ draft, stamp }, set] = useState<StoredDraft<T>>(() => read ?? { draft: stored, stamp: stampFor(stored) })
  const isChanged = useMemo(() => textOf(draft) !== text, [draft, text])
  // An unchanged draft follows what is stored.
  const before = useRef(text)
  useEffect(() => {
    const wasChanged = textOf(draft) !== before.current
    before.current = text
    if (!wasChanged && isChanged) set({ draft: stored, stamp: stampFor(stored) })
  }, [text])
  useEffect(() => {
    if (isChanged) writeDraft(place, { draft, stamp })
    else removeDraft(place)
  }, [storage, key, draft, stamp, isChanged])
  const accept = (saved: T) => {
    setRestored(false)
    // Remove it immediately: the person may leave the page before an effect runs.
    removeDraft(place)
    set({ draft: saved, stamp: stampFor(saved) })
  }
  const change: DraftState<T>['change'] = (next) =>
    set((latest) => ({
      draft: typeof next === 'function' ? (next as (before: T) => T)(latest.draft) : next,
      stamp: latest.stamp,
    }))
  return {
    draft,
    isChanged,
    isRestored: isRestored && isChanged,
    isConflict: isChanged && stamp !== stampFor(stored),
    change,
    discard: () => accept(stored),
    accept,
  }
}

const jsonOf = (value: unknown): string => JSON.stringify(value)

/** FNV-1a: a short hash that shows whether two texts differ. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16)
}
