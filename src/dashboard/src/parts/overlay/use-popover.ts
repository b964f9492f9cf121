/** A native popover and the button that opens it. */
import { type ToggleEvent, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

/**
 * Returns the attributes of the button (`opener`) and of the popover. An element with `autoFocus` gets the focus as the
 * popover opens, before the next key event, which is meant for it. So the elements that are rendered only while
 * `isOpen` must exist before the popover opens.
 */
export function usePopover() {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const popover = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  return {
    isOpen,
    close: () => popover.current?.hidePopover(),
    opener: { ref: button, popoverTarget: id, 'aria-expanded': isOpen },
    popover: {
      ref: popover,
      id,
      popover: 'auto' as const,
      onBeforeToggle: (event: ToggleEvent<HTMLElement>) => {
        if (event.newState === 'open') flushSync(() => setOpen(true))
      },
      onToggle: (event: ToggleEvent<HTMLElement>) => {
        setOpen(event.newState === 'open')
        if (event.newState === 'open' && popover.current !== null && button.current !== null)
          place(popover.current, button.current)
      },
    },
  }
}

const GAP = 4

/** Places the popover below its button, or above it when there is no room below. */
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
