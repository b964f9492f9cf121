/** Which contacts return, by when they began. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { formatNumber, formatPercent } from '../../../format.ts'
import { Chart } from '../../../parts/chart/chart.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import { CohortTable } from '../cohort-table.tsx'
import { EventChoice } from '../event-choice.tsx'
import { formatStart } from '../format-start.ts'
import { AnalyticsPage, Controls, Result, useChange } from '../frame.tsx'
import { type Retention, type RetentionQuery, retentionQuery } from '../queries.ts'
import { COHORTS, type Range, intervalOf, rangeOf, shownTime } from '../range.ts'
import { RangeFields } from '../range-fields.tsx'
import type { RetentionSearch } from '../search.ts'

export function RetentionPage() {
  const texts = textsOf('analytics')
  const { id: businessId, timezone } = useBusiness()
  const search: RetentionSearch = useSearch({ strict: false })
  const change = useChange<RetentionSearch>()
  const range = rangeOf(search, timezone)
  const asked = askOf(search, range)
  const query = useQuery(retentionQuery(businessId, asked))
  return (
    <AnalyticsPage title={texts.tabs.retention}>
      <Section
        title={texts.whoReturns}
        intro={texts.whoReturnsIntro}
        actions={<SaveToBoard kind="retention" query={asked} title={texts.tabs.retention} />}
      >
        <Controls>
          <EventChoice label={texts.firstEvent} event={search.first} onChange={(first) => change({ first })} />
          <EventChoice
            label={texts.returningEvent}
            event={search.returning}
            onChange={(returning) => change({ returning })}
          />
          <RangeFields search={search} range={range} limits={COHORTS} />
        </Controls>
        <Result query={query} isEmpty={({ cohorts }) => cohorts.every(({ contacts }) => contacts === 0)}>
          {(data) => <Shown data={data} />}
        </Result>
      </Section>
    </AnalyticsPage>
  )
}

function askOf({ first, returning, interval }: RetentionSearch, range: Range): RetentionQuery {
  const { from, to } = range
  return {
    ...(first !== undefined && { first: JSON.stringify({ event: first }) }),
    ...(returning !== undefined && { returning: JSON.stringify({ event: returning }) }),
    interval: intervalOf(interval, range, COHORTS) as NonNullable<RetentionQuery['interval']>,
    from,
    ...(to !== undefined && { to }),
  }
}

function Shown({ data }: { data: Retention }) {
  const texts = textsOf('analytics')
  const { cohorts, interval, timezone } = data
  const format = formatStart(interval)
  return (
    <>
      <Curve data={data} />
      <CohortTable
        label={texts.whoReturns}
        heads={[texts.contacts]}
        cohorts={cohorts.map(({ start, contacts, returned }) => ({
          name: format(new Date(shownTime(start, interval, timezone) * 1000)),
          facts: [formatNumber(contacts)],
          cells: returned.map((count) => {
            const share = contacts === 0 ? null : count / contacts
            return { text: share === null ? '–' : formatPercent(share), share, detail: formatNumber(count) }
          }),
        }))}
      />
    </>
  )
}

function Curve({ data: { curve, interval } }: { data: Retention }) {
  const texts = textsOf('analytics')
  const periods = useMemo(() => curve.map(({ period }) => period), [curve])
  if (curve.length === 0) return null
  const label = texts.returnedBy[interval as keyof typeof texts.returnedBy]
  return (
    <Chart
      label={label}
      times={periods}
      series={[{ label, values: curve.map(({ share }) => share) }]}
      format={formatPercent}
      formatStep={formatNumber}
    />
  )
}
