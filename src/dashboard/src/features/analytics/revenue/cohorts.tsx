/** Lifetime value of customers, by the interval of their first order. */
import { useQuery } from '@tanstack/react-query'
import { formatMoney, formatNumber, formatPercent } from '../../../format.ts'
import { Section } from '../../../parts/page/page.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import { CohortTable } from '../cohort-table.tsx'
import { formatStart } from '../format-start.ts'
import { Result } from '../frame.tsx'
import { type CohortsQuery, type RevenueCohorts, cohortsQuery } from '../queries.ts'
import { COHORTS, type Range, intervalOf, shownTime } from '../range.ts'

export function Cohorts({ range, currency }: { range: Range; currency: string }) {
  const texts = textsOf('analytics')
  const { id: businessId } = useBusiness()
  const { from, to } = range
  const interval = intervalOf(undefined, range, COHORTS) as NonNullable<CohortsQuery['interval']>
  const asked = { from, ...(to !== undefined && { to }), interval, currency }
  const query = useQuery(cohortsQuery(businessId, asked))
  return (
    <Section
      title={texts.lifetimeValue}
      intro={texts.lifetimeValueIntro[interval]}
      actions={<SaveToBoard kind="cohorts" query={asked} title={texts.lifetimeValue} />}
    >
      <Result query={query} isEmpty={({ cohorts }) => cohorts.every(({ customers }) => customers === 0)}>
        {(data) => (
          <CohortTable
            label={texts.lifetimeValue}
            heads={[texts.figures.customers, texts.figures.repeatRate]}
            cohorts={rowsOf(data)}
          />
        )}
      </Result>
    </Section>
  )
}

/** Shades each cell by its share of the greatest value. */
function rowsOf({ cohorts, interval, timezone, currency }: RevenueCohorts) {
  const greatest = Math.max(0, ...cohorts.flatMap(({ lifetimeValue }) => lifetimeValue.map((value) => value ?? 0)))
  const format = formatStart(interval)
  return cohorts.map(({ start, customers, repeatRate, lifetimeValue }) => ({
    name: format(new Date(shownTime(start, interval, timezone) * 1000)),
    facts: [formatNumber(customers), repeatRate === null ? '–' : formatPercent(repeatRate)],
    cells: lifetimeValue.map((value) => ({
      text: value === null ? '–' : formatMoney(value, currency),
      share: value === null || greatest === 0 ? null : value / greatest,
    })),
  }))
}
