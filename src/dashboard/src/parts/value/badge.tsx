/** A short state. The colour only repeats what the word says. */
import type { ReactNode } from 'react'
import styles from './badge.module.css'

export type BadgeKind = 'neutral' | 'good' | 'warn' | 'bad' | 'accent'

export function Badge({ kind = 'neutral', children }: { kind?: BadgeKind; children: ReactNode }) {
  return <span className={`${styles['badge']} ${styles[kind]}`}>{children}</span>
}
