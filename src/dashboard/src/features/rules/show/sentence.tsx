/** A rule in words. */
import type { Part } from '../sentence.ts'
import styles from './sentence.module.css'

export function Sentence({ parts }: { parts: readonly Part[] }) {
  return (
    <span className={styles['sentence']}>
      {parts.map(({ text, isValue }, at) =>
        isValue ? (
          <bdi key={at} className={styles['value']}>
            {text}
          </bdi>
        ) : (
          text
        ),
      )}
    </span>
  )
}
