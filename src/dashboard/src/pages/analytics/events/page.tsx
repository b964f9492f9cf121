/** Events over time. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { formatMoney, formatNumber, formatPercent } from '../../../format.ts'
import { Chart } from '../../../parts/chart.tsx'
import { Figure, Figures } from '../../../parts/figure.tsx'
import { Section } from '../../../parts/page.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { STAGES } from '../../contacts/show-contact.ts'
import { formatStart } from '../format-start.ts'
import { AnalyticsPage, Result } from '../frame.tsx'
import { type Series, type SeriesQuery, seriesQuery } from '../queries.ts'
import { OVER_TIME, type Range, intervalOf, rangeOf, shownTime } from '../range.ts'
import type { EventsSearch, Interval } from '../search.ts'
import { EventsControls } from './controls.tsx'

const HEIGHT = 260

export function EventsPage() {
  const texts = textsOf('analytics')
  const { id: businessId, timezone } = useBusiness()
  const search: EventsSearch = useSearch({ strict: false })
  const range = rangeOf(search, timezone)
  const asked = askOf(search, range, intervalOf(search.interval, range, OVER_TIME))
  const query = useQuery(seriesQuery(businessId, asked))
  return (
    <AnalyticsPage title={texts.tabs.events}>
      <Section title={texts.overTime}>
        <EventsControls search={search} range={range} />
        <Result
          query={query}
          missing={asked === null ? texts.noProperty : undefined}
          isEmpty={({ series }) => series.every(({ total, points }) => total === 0 && points.every((one) => one === 0))}
        >
          {(data) => <Shown data={data} search={search} />}
        </Result>
      </Section>
    </AnalyticsPage>
  )
}

/** Null: the sum of nothing yet. A breakdown without its name does not count yet. */
export function askOf(search: EventsSearch, { from, to }: Range, interval: Interval): SeriesQuery | null {
  const { events = [], measure = 'count', property, by, name, top, compare } = search
  if (measure === 'sum' && property === undefined) return null
  const isNamed = by === 'field' || by === 'property'
  const breakdown = isNamed ? name && `${by}:${name}` : by
  return {
    series: JSON.stringify([{ events, measure, ...(measure === 'sum' && { property }) }]),
    from,
    ...(to !== undefined && { to }),
    interval,
    ...(breakdown !== undefined && { breakdown, top: top ?? 10 }),
    ...(compare === true && { compare: 'true' }),
  }
}

type One = Series['series'][number]

function Shown({ data, search }: { data: Series; search: EventsSearch }) {
  const texts = textsOf('analytics')
  const { buckets, interval, timezone, series } = data
  const times = useMemo(
    () => buckets.map((start) => shownTime(start, interval, timezone)),
    [buckets, interval, timezone],
  )
  return series.map((one) => {
    const { measure = 'count', property } = search
    // Amounts alone have a currency; other properties are numbers.
    const currency = measure === 'revenue' || property === 'value' ? one.currency : null
    const name = measure === 'sum' ? texts.sumOf(property ?? '') : texts.measures[measure]
    const label = currency === null ? name : `${name}, ${currency}`
    return (
      <div key="only" className="stack">
        <Total label={label} one={{ ...one, currency }} />
        <Chart
          label={label}
          times={times}
          series={linesOf(one, label, search.by)}
          height={HEIGHT}
          formatAt={formatStart(interval)}
          totals={texts.total}
        />
      </div>
    )
  })
}

function Total({ label, one: { currency, total, before } }: { label: string; one: One }) {
  const texts = textsOf('analytics')
  const show = (value: number) => (currency === null ? formatNumber(value) : formatMoney(value, currency))
  const change = before === null || before.total === 0 ? null : (total - before.total) / Math.abs(before.total)
  const sign = change !== null && change > 0 ? '+' : ''
  return (
    <Figures>
      <Figure
        label={label}
        note={
          before !== null && (
            <>
              {texts.before}: {show(before.total)}
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

/** A row of the breakdown each, or the whole beside the period before. */
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
