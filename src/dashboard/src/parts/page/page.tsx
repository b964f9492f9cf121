/** The frame of a page: title, actions and content. It also sets the title of the browser tab. */
import { type ReactNode, useEffect } from 'react'
import styles from './page.module.css'

interface PageProps {
  title: string
  /** A few words below the title. */
  intro?: ReactNode
  actions?: ReactNode
  /** `text`: forms and prose; `full`: a table that fills the page. */
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

/** A titled section of a page. */
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
