/** The course of a number, in a table cell. The numbers themselves are beside it or in its label. */
import styles from './sparkline.module.css'

const WIDTH = 96
const HEIGHT = 24
const EDGE = 2

export function Sparkline({ label, values }: { label: string; values: readonly number[] }) {
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      className={styles['sparkline']}
    >
      <title>{label}</title>
      <polyline points={pointsOf(values)} />
    </svg>
  )
}

/** Scales the line from the least to the greatest value. Constant values are a line in the middle. */
function pointsOf(values: readonly number[]): string {
  const least = Math.min(...values)
  const span = Math.max(...values) - least
  const step = (WIDTH - 2 * EDGE) / Math.max(1, values.length - 1)
  const heightOf = (value: number) => (span === 0 ? 0.5 : (value - least) / span) * (HEIGHT - 2 * EDGE)
  return values
    .map((value, at) => `${(EDGE + at * step).toFixed(1)},${(HEIGHT - EDGE - heightOf(value)).toFixed(1)}`)
    .join(' ')
}
