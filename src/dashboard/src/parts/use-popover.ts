/** A native popover and the button that opens it. */
import { type ToggleEvent, useId, useLayoutEffect, useRef, useState } from 'react'

/** `opener` and `popover` are attributes of the two; `focusFirst` gives the focus to a part of the popover once it is open. */
export function usePopover(focusFirst: (popover: HTMLElement) => void) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const popover = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  // Before the next key: it belongs to what is open now.
  useLayoutEffect(() => {
    if (!isOpen || popover.current === null || button.current === null) return
    place(popover.current, button.current)
    focusFirst(popover.current)
  }, [isOpen])
  return {
    isOpen,
    close: () => popover.current?.hidePopover(),
    opener: { ref: button, popoverTarget: id, 'aria-expanded': isOpen },
    popover: {
      ref: popover,
      id,
      popover: 'auto' as const,
      onToggle: (event: ToggleEvent<HTMLElement>) => setOpen(event.newState === 'open'),
    },
  }
}

const GAP = 4

/** Below its button, or above it where there is no room. */
function place(popover: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = popover
  const isRtl = document.documentElement.dir === 'rtl'
  const wanted = isRtl ? at.right - width : at.left
  const left = Math.max(GAP, Math.min(wanted, innerWidth - width - GAP))
  const fitsBelow = at.bottom + GAP + height <= innerHeight
  popover.style.left = `${left}px`
  popover.style.top = `${fitsBelow ? at.bottom + GAP : Math.max(GAP, at.top - GAP - height)}px`
}
