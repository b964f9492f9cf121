import { type RefObject, useLayoutEffect, useRef, useState } from 'react'

/** Moves the focus to what a selector names, as the change that it belongs to is shown: the next key is for what has moved. */
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
