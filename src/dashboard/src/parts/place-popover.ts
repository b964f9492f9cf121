const GAP = 4

/** Below its button, or above it where there is no room. */
export function placePopover(popover: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = popover
  const isRtl = document.documentElement.dir === 'rtl'
  const wanted = isRtl ? at.right - width : at.left
  const left = Math.max(GAP, Math.min(wanted, innerWidth - width - GAP))
  const fitsBelow = at.bottom + GAP + height <= innerHeight
  popover.style.left = `${left}px`
  popover.style.top = `${fitsBelow ? at.bottom + GAP : Math.max(GAP, at.top - GAP - height)}px`
}
