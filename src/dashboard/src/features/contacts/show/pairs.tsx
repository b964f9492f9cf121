/** Names and values in two columns. Both may be text from callers. */
import type { ReactNode } from 'react'
import styles from './contact.module.css'

export function Pairs({ pairs }: { pairs: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles['pairs']}>
      {pairs.map(([label, value], at) => (
        <div key={at}>
          <dt className="muted">
            <bdi>{label}</bdi>
          </dt>
          <dd>
            <bdi>{value ?? '–'}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}
