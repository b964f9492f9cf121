/** Tabs that are part of the URL: links of one page. */
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react'
import styles from './tabs.module.css'

export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className={styles['tabs']}>
      {children}
    </nav>
  )
}

function Anchor(props: AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }) {
  return <a {...props} className={styles['tab']} />
}

/** The router marks the tab of the current URL with `aria-current`. */
export const Tab = createLink(Anchor)
