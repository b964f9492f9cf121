/**
 * Lines, bars or stacked bars over time, with the same numbers as a table. uPlot is loaded with the first chart of a
 * visit.
 */
import { Suspense, lazy, useState } from 'react'
import { formatNumber, formatOnClock, utcOf } from '../../format.ts'
import { textsOf } from '../../texts/index.ts'
import { Button } from '../action/button.tsx'
import type { ChartProps } from './chart-props.ts'
import styles from './chart.module.css'
import { Skeleton } from '../feedback/loading.tsx'

const COLOURS = 4
const TABLE_HEIGHT = 320

const Plot = lazy(() => import('./plot.tsx').then(({ Plot }) => ({ default: Plot })))

export function Chart(props: ChartProps) {
  const { label, series, height = 200, format = formatNumber, formatAt = formatOnClock.time, totals } = props
  const { isTableBelow = totals !== undefined } = props
  const [isSwitched, setSwitched] = useState(false)
  const plotted = isTableBelow ? series.slice(0, COLOURS) : series
  return (
    <figure className={styles['chart']}>
      <figcaption className={styles['caption']}>
        <ul className={styles['legend']}>
          {plotted.map((one, index) => (
            <li key={index}>
              <span className={styles['dot']} style={{ background: `var(--chart-${(index % COLOURS) + 1})` }} />
              <bdi>{one.label}</bdi>
            </li>
          ))}
        </ul>
        {!isTableBelow && (
          <Button kind="quiet" size="small" aria-pressed={isSwitched} onClick={() => setSwitched(!isSwitched)}>
            {textsOf('shell').asTable}
          </Button>
        )}
      </figcaption>
      {!isSwitched && (
        <div role="img" aria-label={label} style={{ blockSize: height }}>
          <Suspense fallback={<Skeleton height="100%" />}>
            <Plot {...props} series={plotted} height={height} format={format} formatAt={formatAt} />
          </Suspense>
        </div>
      )}
      {(isSwitched || isTableBelow) && (
        <ChartTable {...props} height={isTableBelow ? TABLE_HEIGHT : height} format={format} formatAt={formatAt} />
      )}
    </figure>
  )
}

function ChartTable(props: ChartProps & Required<Pick<ChartProps, 'height' | 'format' | 'formatAt'>>) {
  const { label, times, series, height, format, formatAt, formatStep, totals, starts } = props
  const show = (value: number | null | undefined) => (value == null ? '–' : format(value))
  return (
    <div className={styles['scroll']} style={{ maxBlockSize: height }} tabIndex={0} role="group" aria-label={label}>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">{textsOf('shell').time}</th>
            {series.map((one, index) => (
              <th key={index} scope="col">
                <bdi>{one.label}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {totals !== undefined && (
            <tr className={styles['total']}>
              <th scope="row">{totals}</th>
              {series.map(({ total }, index) => (
                <td key={index}>{show(total)}</td>
              ))}
            </tr>
          )}
          {times.map((time, at) => (
            <tr key={at}>
              <th scope="row" title={utcOf(starts?.[at])}>
                {formatStep?.(time) ?? formatAt(new Date(time * 1000))}
              </th>
              {series.map(({ values }, index) => (
                <td key={index}>{show(values[at])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
