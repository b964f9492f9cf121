/** Frame of the pages before the sign-in. */
import { type ReactNode, useEffect } from 'react'
import { setLanguage } from '../../preferences.ts'
import { type Language, LANGUAGES, language, textsOf } from '../../texts/index.ts'
import icon from '../../icon.svg'
import styles from './entrance.module.css'
import { PlainHttp } from '../../parts/feedback/plain-http.tsx'

export function Entrance({ title, intro, children }: { title: string; intro?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Sluice`
  }, [title])
  return (
    <div className={styles['entrance']}>
      <main className={styles['card']}>
        <img src={icon} alt="Sluice" width={36} height={36} />
        <div>
          <h1>{title}</h1>
          {intro != null && <p className="muted">{intro}</p>}
        </div>
        {children}
      </main>
      <footer className={styles['footer']}>
        {!isSecureContext && <PlainHttp />}
        <select
          aria-label={textsOf('shell').language}
          value={language}
          onChange={(event) => setLanguage(event.target.value as Language)}
        >
          {Object.entries(LANGUAGES).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </footer>
    </div>
  )
}
