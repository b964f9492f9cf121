/** Inserts text at the last position of the cursor. */
import { type FocusEvent, useRef } from 'react'
import { type FieldName, type Variant, withField } from '../fields.ts'

type Control = HTMLInputElement | HTMLTextAreaElement

export interface Insertion {
  /** For the form around the fields. */
  onFocus: (event: FocusEvent<HTMLElement>) => void
  insert: (text: string) => void
}

/** Fields that accept insertions have a `data-field`. */
export function useInsertion(variant: Variant, onChange: (variant: Variant) => void): Insertion {
  const last = useRef<Control | null>(null)
  return {
    onFocus({ target }) {
      if (target.dataset['field'] !== undefined) last.current = target as unknown as Control
    },
    insert(text) {
      const isThere = last.current?.isConnected ?? false
      const control = isThere ? last.current : document.querySelector<Control>('form [data-field]')
      if (control === null) return
      // The cursor of a field that never had the focus is at the start, but the text belongs at the end.
      const end = isThere ? (control.selectionEnd ?? control.value.length) : control.value.length
      const start = isThere ? (control.selectionStart ?? end) : end
      const value = control.value.slice(0, start) + text + control.value.slice(end)
      onChange(withField(variant, control.dataset['field'] as FieldName, value))
      // After the new value is rendered.
      setTimeout(() => {
        control.focus()
        control.setSelectionRange(start + text.length, start + text.length)
      })
    },
  }
}
