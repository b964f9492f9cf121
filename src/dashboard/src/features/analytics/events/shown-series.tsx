/** The figures and the chart of each series, and of a formula of two series. */
import { useMemo } from 'react'
import { formatMoney, formatNumber, formatPercent } from '../../../format.ts'
import { Chart } from '../../../parts/chart/chart.tsx'
import { Figure, Figures } from '../../../parts/value/figure.tsx'
import { textsOf } from '../../../texts/index.ts'
import { STAGES } from '../../rules/stages.ts'
import { formatStart } from '../format-start.ts'
import type { Series } from '../queries.ts'
import { shownTime } from '../range.ts'
import type { EventsSearch, SeriesSearch } from '../search.ts'

const HEIGHT = 260

type One = Series['series'][number]
type Formula = NonNullable<Series['formula']>

export function ShownSeries({ data, search }: { data: Series; search: EventsSearch }) {
  const texts = textsOf('analytics')
  const { buckets, interval, timezone, series, formula } = data
  const times = useMemo(
    () => buckets.map((start) => shownTime(start, interval, timezone)),
    [buckets, interval, timezone],
  )
  const common = { times, starts: buckets, height: HEIGHT, formatAt: formatStart(interval), totals: texts.total }
  const { formula: text = '' } = search
  return (
    <>
      {formula !== null && (
        <div className="stack">
          <Total label={text} currency={null} total={formula.total} before={formula.before?.total} />
          <Chart {...common} label={text} series={linesOfFormula(formula, text)} />
        </div>
      )}
      {series.map((one, at) => {
        const { label, currency } = describe(
          one,
          at === 0 ? search : (search.second ?? {}),
          series.length > 1 ? at : null,
        )
        return (
          <div key={at} className="stack">
            <Total label={label} currency={currency} total={one.total} before={one.before?.total} />
            <Chart {...common} label={label} series={linesOf(one, label, search.by)} />
          </div>
        )
      })}
    </>
  )
}

/** `at` is the index of the series when there are two, otherwise null. */
function describe(one: One, { measure = 'count', property, events = [] }: SeriesSearch, at: number | null) {
  const texts = textsOf('analytics')
  // Only amounts have a currency. Other properties are numbers.
  const currency = measure === 'revenue' || property === 'value' ? one.currency : null
  const name = measure === 'sum' ? texts.sumOf(property ?? '') : texts.measures[measure]
  const label = currency === null ? name : `${name}, ${currency}`
  if (at === null) return { currency, label }
  const meant = events.length === 0 ? '' : ` (${events.join(', ')})`
  return { currency, label: `${'ab'[at]}: ${label}${meant}` }
}

interface TotalProps {
  label: string
  currency: string | null
  total: number | null
  /** Undefined: no comparison. */
  before: number | null | undefined
}

function Total({ label, currency, total, before }: TotalProps) {
  const texts = textsOf('analytics')
  const show = (value: number | null) =>
    value === null ? '–' : currency === null ? formatNumber(value) : formatMoney(value, currency)
  const change = !before || total === null ? null : (total - before) / Math.abs(before)
  const sign = change !== null && change > 0 ? '+' : ''
  return (
    <Figures>
      <Figure
        label={label}
        note={
          before !== undefined && (
            <>
              {texts.before}: {show(before)}
              {change !== null && ` (${sign}${formatPercent(change)})`}
            </>
          )
        }
      >
        {show(total)}
      </Figure>
    </Figures>
  )
}

function linesOfFormula({ total, points, before }: Formula, label: string) {
  const earlier = before && { label: textsOf('analytics').before, values: before.points, total: before.total }
  return [{ label, values: points, total }, ...(earlier ? [earlier] : [])]
}

/** Returns a line for each row of the breakdown, or the whole series and the previous period. */
function linesOf({ total, points, rows, before }: One, label: string, by: EventsSearch['by']) {
  const texts = textsOf('analytics')
  if (rows.length > 0) return rows.map((row) => ({ label: nameOf(row, by), values: row.points, total: row.total }))
  const earlier = before === null ? [] : [{ label: texts.before, values: before.points, total: before.total }]
  return [{ label, values: points, total }, ...earlier]
}

function nameOf({ value, label, isOther }: One['rows'][number], by: EventsSearch['by']): string {
  const texts = textsOf('analytics')
  if (isOther) return texts.others
  if (value === null) return texts.noValue
  const stage = by === 'stage' ? STAGES.find((one) => one === value) : undefined
  return stage === undefined ? (label ?? value) : textsOf('contacts').stages[stage]
}
