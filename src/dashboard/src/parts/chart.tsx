/** Lines or bars over time, with the same numbers as a table. uPlot comes with the first chart of a visit. */
import { Suspense, lazy, useState } from 'react'
import { formatNumber, formatTime } from '../format.ts'
import { textsOf } from '../texts/index.ts'
import { Button } from './button.tsx'
import styles from './chart.module.css'
import { Skeleton } from './loading.tsx'

export interface Series {
  label: string
  /** One a time; null is a gap. */
  values: readonly (number | null)[]
}

export interface ChartProps {
  /** What it shows; read aloud. */
  label: string
  /** Epoch seconds, ascending. */
  times: readonly number[]
  series: readonly Series[]
  kind?: 'line' | 'bars'
  height?: number
  format?: (value: number) => string
  formatAt?: (at: Date) => string
}

const Plot = lazy(() => import('./plot.tsx').then(({ Plot }) => ({ default: Plot })))

export function Chart(props: ChartProps) {
  const { label, times, series, height = 200, format = formatNumber, formatAt = formatTime } = props
  const texts = textsOf('shell')
  const [isTable, setTable] = useState(false)
  return (
    <figure className={styles['chart']}>
      <figcaption className={styles['caption']}>
        <ul className={styles['legend']}>
          {series.map((one, index) => (
            <li key={one.label}>
              <span className={styles['dot']} style={{ background: `var(--chart-${(index % 4) + 1})` }} />
              {one.label}
            </li>
          ))}
        </ul>
        <Button kind="quiet" size="small" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {texts.asTable}
        </Button>
      </figcaption>
      {isTable ? (
        <div className={styles['scroll']} style={{ maxBlockSize: height }} tabIndex={0} role="group" aria-label={label}>
          <table className={styles['table']}>
            <thead>
              <tr>
                <th scope="col">{texts.time}</th>
                {series.map((one) => (
                  <th key={one.label} scope="col">
                    {one.label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((time, at) => (
                <tr key={time}>
                  <th scope="row">{formatAt(new Date(time * 1000))}</th>
                  {series.map((one) => (
                    <td key={one.label}>{one.values[at] == null ? '–' : format(one.values[at])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <div role="img" aria-label={label} style={{ blockSize: height }}>
          <Suspense fallback={<Skeleton height="100%" />}>
            <Plot {...props} height={height} format={format} formatAt={formatAt} />
          </Suspense>
        </div>
      )}
    </figure>
  )
}
