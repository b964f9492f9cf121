/**
 * Keyboard shortcuts: single letters, and `g` followed by a letter. They are off while a person types or a dialog is
 * open.
 */
import { useEffect, useEffectEvent } from 'react'
import { shortcutsOn } from '../../preferences.ts'
import { createStore } from '../../store.ts'

export interface Shortcut {
  /** Keys, such as `n`, `?` or `g c`. */
  keys: string
  label: string
  run: () => void
}

/** All shortcuts that are active now, for the dialog that lists them. */
export const shortcuts = createStore<readonly Shortcut[]>([])

/** Registers a shortcut while the component is mounted. When keys collide, the latest registration wins. */
export function useShortcut(keys: string, label: string, run: () => void): void {
  const runLatest = useEffectEvent(run)
  useEffect(() => {
    const shortcut: Shortcut = { keys, label, run: () => runLatest() }
    shortcuts.set([...shortcuts.get(), shortcut])
    return () => shortcuts.set(shortcuts.get().filter((one) => one !== shortcut))
  }, [keys, label])
}

const SEQUENCE_MS = 1200

export function listenForShortcuts(openPalette: () => void): () => void {
  let first = ''
  let firstAt = 0
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      openPalette()
      return
    }
    if (!shortcutsOn.get() || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    // In a shadow root, such as the editor of the SQL page, `event.target` is only the host. The path has the real
    // target.
    if (isTyping(event.composedPath()[0] ?? null) || document.querySelector('dialog[open]') !== null) return
    const isSecond = first !== '' && event.timeStamp - firstAt < SEQUENCE_MS
    const keys = isSecond ? `${first} ${event.key}` : event.key
    first = ''
    const all = shortcuts.get()
    const found = all.findLast((shortcut) => shortcut.keys === keys)
    if (found !== undefined) {
      event.preventDefault()
      found.run()
    } else if (all.some((shortcut) => shortcut.keys.startsWith(`${event.key} `))) {
      first = event.key
      firstAt = event.timeStamp
    }
  }
  addEventListener('keydown', onKeyDown)
  return () => removeEventListener('keydown', onKeyDown)
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.closest('input, textarea, select') !== null)
  )
}
