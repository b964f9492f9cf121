/** The figures of one currency, in total and over time. */
import { useMemo } from 'react'
import { formatMoney, formatNumber, formatPercent } from '../../../format.ts'
import { Chart } from '../../../parts/chart/chart.tsx'
import { Figure, Figures } from '../../../parts/value/figure.tsx'
import { textsOf } from '../../../texts/index.ts'
import { formatStart } from '../format-start.ts'
import type { Revenue } from '../queries.ts'
import { shownTime } from '../range.ts'

type Currency = Revenue['currencies'][number]

const AMOUNTS = ['net', 'gross', 'refunds', 'averageOrder'] as const
const COUNTS = ['orders', 'customers'] as const
const HEIGHT = 240

export function RevenueFigures({ data, shown }: { data: Revenue; shown: Currency }) {
  const texts = textsOf('analytics')
  const { buckets, interval, timezone } = data
  const times = useMemo(
    () => buckets.map((start) => shownTime(start, interval, timezone)),
    [buckets, interval, timezone],
  )
  const seriesOf = (key: keyof Currency['points'][number]) => ({
    label: texts.figures[key],
    values: shown.points.map((point) => point[key]),
    total: shown[key],
  })
  const common = { times, starts: buckets, height: HEIGHT, formatAt: formatStart(interval), totals: texts.total }
  return (
    <>
      <Totals shown={shown} />
      <Chart
        {...common}
        label={[texts.amounts, shown.currency].filter(Boolean).join(', ')}
        series={AMOUNTS.map(seriesOf)}
      />
      <Chart {...common} label={texts.ordersAndCustomers} series={COUNTS.map(seriesOf)} />
    </>
  )
}

function Totals({ shown }: { shown: Currency }) {
  const texts = textsOf('analytics')
  const { currency, before } = shown
  const money = (amount: number) => (currency === null ? formatNumber(amount) : formatMoney(amount, currency))
  const shows = { ...mapOf(AMOUNTS, money), ...mapOf(COUNTS, formatNumber), repeatRate: formatPercent }
  return (
    <Figures>
      {[...AMOUNTS, ...COUNTS, 'repeatRate' as const].map((key) => {
        const show = (value: number | null) => (value === null ? '–' : shows[key](value))
        return (
          <Figure key={key} label={texts.figures[key]} note={before && `${texts.before}: ${show(before[key])}`}>
            {show(shown[key])}
          </Figure>
        )
      })}
    </Figures>
  )
}

type Format = (value: number) => string

const mapOf = <Key extends string>(keys: readonly Key[], format: Format) =>
  Object.fromEntries(keys.map((key) => [key, format])) as Record<Key, Format>
