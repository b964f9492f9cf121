/** Shown instead of an empty list: what would be here, and how to get it. */
import type { ReactNode } from 'react'
import { Icon } from '../value/icon.tsx'
import type { IconName } from '../value/icon-shapes.ts'
import styles from './notices.module.css'

interface EmptyProps {
  icon: IconName
  title: string
  /** Heading level. 1: the page contains nothing else. */
  level?: 1 | 2
  children?: ReactNode
  actions?: ReactNode
}

export function Empty({ icon, title, level = 2, children, actions }: EmptyProps) {
  const Heading = `h${level}` as const
  return (
    <div className={styles['empty']}>
      <span className={styles['emptyIcon']}>
        <Icon name={icon} size={20} />
      </span>
      <Heading tabIndex={level === 1 ? -1 : undefined} className={styles['emptyTitle']}>
        {title}
      </Heading>
      {children != null && <div className={styles['emptyText']}>{children}</div>}
      {actions != null && <div className={styles['emptyActions']}>{actions}</div>}
    </div>
  )
}
