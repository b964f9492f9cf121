/** Counts new, returning, resurrecting and dormant contacts. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Chart } from '../../../parts/chart/chart.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import { CsvButton } from '../csv-button.tsx'
import { EventChoice } from '../event-choice.tsx'
import { formatStart } from '../format-start.ts'
import { AnalyticsPage, Controls, Result, useChange } from '../frame.tsx'
import { type Lifecycle, type LifecycleQuery, lifecycleQuery } from '../journey-queries.ts'
import { LIFECYCLE, type Range, intervalOf, localStart, rangeOf, shownTime } from '../range.ts'
import { RangeFields } from '../range-fields.tsx'
import type { LifecycleSearch } from '../search.ts'

/** In the order from the axis. The last kind is below the axis. */
const KINDS = ['returning', 'new', 'resurrecting', 'dormant'] as const
const HEIGHT = 300

export function LifecyclePage() {
  const texts = textsOf('journeys')
  const { id: businessId, timezone } = useBusiness()
  const search: LifecycleSearch = useSearch({ strict: false })
  const change = useChange<LifecycleSearch>()
  const range = rangeOf(search, timezone)
  const asked = askOf(search, range)
  const query = useQuery(lifecycleQuery(businessId, asked))
  return (
    <AnalyticsPage title={textsOf('analytics').tabs.lifecycle}>
      <Section
        title={texts.lifecycle}
        intro={texts.lifecycleIntro}
        actions={<SaveToBoard kind="lifecycle" query={asked} title={textsOf('analytics').tabs.lifecycle} />}
      >
        <Controls>
          <EventChoice label={texts.active} event={search.active} onChange={(active) => change({ active })} />
          <RangeFields search={search} range={range} limits={LIFECYCLE} />
        </Controls>
        <Result query={query} isEmpty={({ buckets }) => buckets.every((one) => KINDS.every((kind) => one[kind] === 0))}>
          {(data) => <Shown data={data} />}
        </Result>
      </Section>
    </AnalyticsPage>
  )
}

function askOf({ active, interval }: LifecycleSearch, range: Range): LifecycleQuery {
  const { from, to } = range
  return {
    ...(active !== undefined && { active: JSON.stringify({ event: active }) }),
    interval: intervalOf(interval, range, LIFECYCLE) as NonNullable<LifecycleQuery['interval']>,
    from,
    ...(to !== undefined && { to }),
  }
}

function Shown({ data: { buckets, interval, timezone } }: { data: Lifecycle }) {
  const texts = textsOf('journeys')
  const times = useMemo(
    () => buckets.map(({ start }) => shownTime(start, interval, timezone)),
    [buckets, interval, timezone],
  )
  const rows = () => [
    [texts.start, ...KINDS.map((kind) => texts.kinds[kind])],
    ...buckets.map((one) => [localStart(one.start, interval, timezone), ...KINDS.map((kind) => one[kind])]),
  ]
  return (
    <>
      <Chart
        label={texts.lifecycle}
        kind="stack"
        times={times}
        starts={buckets.map(({ start }) => start)}
        series={KINDS.map((kind) => ({
          label: texts.kinds[kind],
          values: buckets.map((one) => one[kind]),
          isBelow: kind === 'dormant',
        }))}
        height={HEIGHT}
        formatAt={formatStart(interval)}
        isTableBelow
      />
      <CsvButton name="lifecycle" rows={rows} />
    </>
  )
}
