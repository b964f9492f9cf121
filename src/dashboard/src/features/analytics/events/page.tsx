/** Events over time. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { Section } from '../../../parts/page/page.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import { AnalyticsPage, Result } from '../frame.tsx'
import { type SeriesQuery, seriesQuery } from '../queries.ts'
import { OVER_TIME, type Range, intervalOf, rangeOf } from '../range.ts'
import type { EventsSearch, Interval, SeriesSearch } from '../search.ts'
import { EventsControls } from './controls.tsx'
import { ShownSeries } from './shown-series.tsx'

export function EventsPage() {
  const texts = textsOf('analytics')
  const { id: businessId, timezone } = useBusiness()
  const search: EventsSearch = useSearch({ strict: false })
  const range = rangeOf(search, timezone)
  const asked = askOf(search, range, intervalOf(search.interval, range, OVER_TIME))
  const query = useQuery(seriesQuery(businessId, asked))
  return (
    <AnalyticsPage title={texts.tabs.events}>
      <Section title={texts.overTime} actions={<SaveToBoard kind="series" query={asked} title={texts.tabs.events} />}>
        <EventsControls search={search} range={range} error={query.error} />
        <Result
          query={query}
          missing={asked === null ? texts.noProperty : undefined}
          isEmpty={({ series }) => series.every(({ total, points }) => total === 0 && points.every((one) => one === 0))}
        >
          {(data) => <ShownSeries data={data} search={search} />}
        </Result>
      </Section>
    </AnalyticsPage>
  )
}

/** Returns null while a sum has no property. Ignores a breakdown without a name. */
export function askOf(search: EventsSearch, { from, to }: Range, interval: Interval): SeriesQuery | null {
  const { second, formula, by, name, top, compare } = search
  const series = second === undefined ? [search] : [search, second]
  if (series.some(({ measure, property }) => measure === 'sum' && property === undefined)) return null
  const isNamed = by === 'field' || by === 'property'
  const breakdown = isNamed ? name && `${by}:${name}` : by
  return {
    series: JSON.stringify(series.map(seriesOf)),
    from,
    ...(to !== undefined && { to }),
    interval,
    ...(breakdown !== undefined && { breakdown, top: top ?? 10 }),
    ...(formula !== undefined && second !== undefined && { formula }),
    ...(compare === true && { compare: 'true' }),
  }
}

function seriesOf({ events = [], measure = 'count', property, currency, where }: SeriesSearch) {
  const isMoney = measure === 'revenue' || (measure === 'sum' && property === 'value')
  return {
    events,
    measure,
    ...(measure === 'sum' && { property }),
    ...(isMoney && currency !== undefined && { currency }),
    ...(where !== undefined && { where }),
  }
}
