/** Tabs that are part of the URL: links between parts of one page. */
import { createLink } from '@tanstack/react-router'
import { type AnchorHTMLAttributes, type ReactNode, type Ref, useEffect, useRef } from 'react'
import styles from './tabs.module.css'

export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  const frame = useRef<HTMLElement>(null)
  useEffect(() => {
    if (frame.current !== null) showCurrent(frame.current)
  })
  return (
    <nav ref={frame} aria-label={label} className={styles['tabs']}>
      {children}
    </nav>
  )
}

/**
 * Scrolls the tabs to the current one, because on a narrow screen not all of them fit. `scrollIntoView` would move the
 * page too.
 */
function showCurrent(frame: HTMLElement): void {
  const tab = frame.querySelector('[aria-current]')?.getBoundingClientRect()
  if (tab === undefined) return
  const { left, right } = frame.getBoundingClientRect()
  frame.scrollLeft += Math.max(0, tab.right - right) + Math.min(0, tab.left - left)
}

function Anchor(props: AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }) {
  return <a {...props} className={styles['tab']} />
}

/** The router marks the tab of the current URL with `aria-current`. */
export const Tab = createLink(Anchor)
