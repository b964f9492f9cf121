/** Puts text where the cursor last was. */
import { type FocusEvent, useRef } from 'react'
import { type FieldName, type Variant, withField } from '../templates/fields.ts'

type Control = HTMLInputElement | HTMLTextAreaElement

export interface Insertion {
  /** Of the form of the fields. */
  onFocus: (event: FocusEvent<HTMLElement>) => void
  insert: (text: string) => void
}

/** Fields that take it have a `data-field`. */
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
      // A field in which nobody was has its cursor at the beginning: what is added belongs to the end.
      const end = isThere ? (control.selectionEnd ?? control.value.length) : control.value.length
      const start = isThere ? (control.selectionStart ?? end) : end
      const value = control.value.slice(0, start) + text + control.value.slice(end)
      onChange(withField(variant, control.dataset['field'] as FieldName, value))
      // Once the value is shown.
      setTimeout(() => {
        control.focus()
        control.setSelectionRange(start + text.length, start + text.length)
      })
    },
  }
}
