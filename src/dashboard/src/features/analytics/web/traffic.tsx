/** Figures of the time range, in total and over time. */
import { useMemo } from 'react'
import { formatNumber, formatPercent } from '../../../format.ts'
import { Chart } from '../../../parts/chart/chart.tsx'
import { Figure, Figures } from '../../../parts/value/figure.tsx'
import { textsOf } from '../../../texts/index.ts'
import { CsvButton } from '../csv-button.tsx'
import { formatSeconds } from '../format-seconds.ts'
import { formatStart } from '../format-start.ts'
import { localStart, shownTime } from '../range.ts'
import type { Traffic } from './queries.ts'

const COUNTS = ['visitors', 'sessions', 'pageViews'] as const
const FORMATS = {
  visitors: formatNumber,
  sessions: formatNumber,
  pageViews: formatNumber,
  depth: (percent: number) => formatPercent(percent / 100),
  sessionSeconds: formatSeconds,
  bounceRate: formatPercent,
}
const FIGURES = Object.keys(FORMATS) as (keyof typeof FORMATS)[]
const HEIGHT = 240

export function TrafficFigures({ data }: { data: Traffic }) {
  const texts = textsOf('web')
  const { before: beforeText, total } = textsOf('analytics')
  const { buckets, interval, timezone, points, before } = data
  const times = useMemo(
    () => buckets.map((start) => shownTime(start, interval, timezone)),
    [buckets, interval, timezone],
  )
  const rows = () => [
    [texts.start, ...FIGURES.map((key) => texts.units[key])],
    ...buckets.map((start, at) => [
      localStart(start, interval, timezone),
      ...FIGURES.map((key) => points[at]?.[key] ?? null),
    ]),
  ]
  return (
    <>
      <Figures>
        {FIGURES.map((key) => {
          const show = (value: number | null) => (value === null ? '–' : FORMATS[key](value))
          return (
            <Figure key={key} label={texts.figures[key]} note={before && `${beforeText}: ${show(before[key])}`}>
              {show(data[key])}
            </Figure>
          )
        })}
      </Figures>
      <Chart
        label={texts.traffic}
        times={times}
        starts={buckets}
        series={COUNTS.map((key) => ({
          label: texts.figures[key],
          values: points.map((point) => point[key]),
          total: data[key],
        }))}
        height={HEIGHT}
        formatAt={formatStart(interval)}
        totals={total}
      />
      <CsvButton name="web" rows={rows} />
    </>
  )
}
