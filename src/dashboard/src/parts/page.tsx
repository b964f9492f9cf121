/** The frame of a page: its title, its actions, its content. Names the tab of the browser too. */
import { type ReactNode, useEffect } from 'react'
import styles from './page.module.css'

interface PageProps {
  title: string
  /** Under the title, in a few words. */
  intro?: ReactNode
  actions?: ReactNode
  /** `text`: forms and prose; `full`: a table up to the edges. */
  width?: 'text' | 'normal' | 'full'
  children: ReactNode
}

export function Page({ title, intro, actions, width = 'normal', children }: PageProps) {
  useTabTitle(title)
  return (
    <div className={`${styles['page']} ${styles[width]}`}>
      <header className={styles['header']}>
        <div className={styles['titles']}>
          <h1 tabIndex={-1} className={styles['title']}>
            {title}
          </h1>
          {intro != null && <p className="muted">{intro}</p>}
        </div>
        {actions != null && <div className={styles['actions']}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

export function useTabTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Sluice`
  }, [title])
}

/** A titled part of a page. */
export function Section({ title, intro, actions, children }: Omit<PageProps, 'width'>) {
  return (
    <section className={`card ${styles['section']}`} aria-label={title}>
      <div className={styles['header']}>
        <div className={styles['titles']}>
          <h2>{title}</h2>
          {intro != null && <p className="muted small">{intro}</p>}
        </div>
        {actions != null && <div className={styles['actions']}>{actions}</div>}
      </div>
      {children}
    </section>
  )
}
