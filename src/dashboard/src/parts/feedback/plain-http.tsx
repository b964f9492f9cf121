import { textsOf } from '../../texts/index.ts'
import { Icon } from '../value/icon.tsx'
import styles from './plain-http.module.css'

/** Warns that what is sent can be read on the way. */
export function PlainHttp() {
  const texts = textsOf('shell').plainHttp
  return (
    <details className={styles['plainHttp']}>
      <summary>
        <Icon name="warn" size={14} />
        {texts.title}
      </summary>
      <p>{texts.text}</p>
    </details>
  )
}
