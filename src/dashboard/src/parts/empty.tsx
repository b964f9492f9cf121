/** Instead of an empty list: what would be here, and what to do for it. */
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'
import styles from './notices.module.css'

interface EmptyProps {
  icon: IconName
  title: string
  children?: ReactNode
  actions?: ReactNode
}

export function Empty({ icon, title, children, actions }: EmptyProps) {
  return (
    <div className={styles['empty']}>
      <span className={styles['emptyIcon']}>
        <Icon name={icon} size={20} />
      </span>
      <h2 className={styles['emptyTitle']}>{title}</h2>
      {children != null && <div className={styles['emptyText']}>{children}</div>}
      {actions != null && <div className={styles['emptyActions']}>{actions}</div>}
    </div>
  )
}
