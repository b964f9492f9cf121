/** Placeholder with the size of the content that is being loaded, so that nothing moves. */
import { textsOf } from '../../texts/index.ts'
import styles from './notices.module.css'

interface SkeletonProps {
  /** CSS lengths. */
  width?: string
  height?: string
}

export function Skeleton({ width = '100%', height = '1em' }: SkeletonProps) {
  return <span className={styles['bar']} style={{ inlineSize: width, blockSize: height }} aria-hidden="true" />
}

/** Placeholder for a number of lines of text. */
export function Loading({ lines = 3 }: { lines?: number }) {
  return (
    <div role="status" style={{ display: 'grid', gap: 10, paddingBlock: 6 }}>
      <span className="visually-hidden">{textsOf('shell').loading}</span>
      {Array.from({ length: lines }, (_, index) => (
        <Skeleton key={index} width={`${90 - ((index * 17) % 45)}%`} height="12px" />
      ))}
    </div>
  )
}
