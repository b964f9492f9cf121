import { generate } from 'lean-qr'
import styles from './account.module.css'

const MARGIN = 4

/** Dark on light in both themes, because cameras expect it. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const code = generate(text)
  const side = code.size + 2 * MARGIN
  const cells = Array.from(
    { length: code.size ** 2 },
    (_, index) => [index % code.size, Math.floor(index / code.size)] as const,
  )
  const path = cells.filter(([x, y]) => code.get(x, y)).map(([x, y]) => `M${x + MARGIN} ${y + MARGIN}h1v1h-1z`)
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${side} ${side}`}
      className={styles['qr']}
      shapeRendering="crispEdges"
    >
      <path d={path.join('')} fill="#000" />
    </svg>
  )
}
