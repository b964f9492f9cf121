import { type RefObject, useLayoutEffect, useRef, useState } from 'react'

/**
 * Moves the focus to the element that a selector names, in the same render as the change, because the next key event is
 * meant for the moved element.
 */
export function useFocus(frame: RefObject<HTMLElement | null>): (selector: string) => void {
  const wanted = useRef('')
  const [, showAgain] = useState(0)
  useLayoutEffect(() => {
    if (wanted.current === '') return
    const found = frame.current?.querySelector<HTMLElement>(wanted.current)
    if (found == null) return
    wanted.current = ''
    found.focus()
  })
  return (selector) => {
    wanted.current = selector
    showAgain((before) => before + 1)
  }
}
