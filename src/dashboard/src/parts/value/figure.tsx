/** Key figures side by side, each with its label. */
import type { ReactNode } from 'react'
import styles from './figure.module.css'

/** `isDense`: for many short numbers. */
export function Figures({ isDense = false, children }: { isDense?: boolean; children: ReactNode }) {
  return <dl className={`${styles['figures']} ${isDense ? styles['dense'] : ''}`}>{children}</dl>
}

export function Figure({ label, note, children }: { label: string; note?: ReactNode; children: ReactNode }) {
  return (
    <div className={styles['figure']}>
      <dt className="muted small">{label}</dt>
      <dd>
        <span className={styles['value']}>{children}</span>
        {note != null && <span className="muted small">{note}</span>}
      </dd>
    </div>
  )
}
