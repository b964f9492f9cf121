import { type RefObject, useEffect, useRef, useState } from 'react'

/** Moves the focus to what a selector names, once the change that it belongs to is shown. */
export function useFocus(frame: RefObject<HTMLElement | null>): (selector: string) => void {
  const wanted = useRef('')
  const [, showAgain] = useState(0)
  useEffect(() => {
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
