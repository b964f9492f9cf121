/** Something to know before continuing. */
import type { ReactNode } from 'react'
import { Icon } from '../value/icon.tsx'
import styles from './notices.module.css'

export function Note({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className={styles['note']}>
      <Icon name="info" />
      <div>{children}</div>
      {action}
    </div>
  )
}
