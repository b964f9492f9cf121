/** Share of a whole: a bar and the percentage. */
import { formatPercent } from '../../format.ts'
import styles from './share.module.css'

/** `share` is between 0 and 1. */
export function Share({ share }: { share: number }) {
  return (
    <span className={styles['share']}>
      <span className={styles['track']} aria-hidden="true">
        <span className={styles['bar']} style={{ inlineSize: `${Math.min(1, share) * 100}%` }} />
      </span>
      <span className="numeric">{formatPercent(share)}</span>
    </span>
  )
}
