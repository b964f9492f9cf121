/** Orders and revenue by currency, and the value of customers by the interval of their first order. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { CheckboxField, SelectField } from '../../../parts/form/field.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import styles from '../analytics.module.css'
import { AnalyticsPage, Controls, Result, useChange } from '../frame.tsx'
import { type Revenue, type RevenueQuery, revenueQuery } from '../queries.ts'
import { OVER_TIME, type Range, intervalOf, rangeOf } from '../range.ts'
import { RangeFields } from '../range-fields.tsx'
import type { RevenueSearch } from '../search.ts'
import { Cohorts } from './cohorts.tsx'
import { RevenueFigures } from './figures.tsx'

export function RevenuePage() {
  const texts = textsOf('analytics')
  const { id: businessId, timezone, currency: own } = useBusiness()
  const search: RevenueSearch = useSearch({ strict: false })
  const range = rangeOf(search, timezone)
  const { from, to } = range
  const asked: RevenueQuery = {
    from,
    ...(to !== undefined && { to }),
    interval: intervalOf(search.interval, range, OVER_TIME),
    ...(search.compare === true && { compare: 'true' }),
  }
  const query = useQuery(revenueQuery(businessId, asked))
  const used = query.data?.currencies.flatMap(({ currency }) => currency ?? []) ?? []
  const currency = search.currency ?? used[0] ?? own
  return (
    <AnalyticsPage title={texts.tabs.revenue}>
      <Section
        title={texts.revenueOverTime}
        actions={<SaveToBoard kind="revenue" query={asked} title={texts.tabs.revenue} />}
      >
        <RevenueControls search={search} range={range} currency={currency} used={used} />
        <Result query={query} isEmpty={(data) => shownOf(data, currency) === undefined}>
          {(data) => {
            const shown = shownOf(data, currency)
            return shown && <RevenueFigures data={data} shown={shown} />
          }}
        </Result>
      </Section>
      {/* Not before the figures are loaded: they would move it, and it uses their currency. */}
      {!query.isPending && <Cohorts range={range} currency={currency} />}
    </AnalyticsPage>
  )
}

/** When nothing was sold in the currency, shows the orders without an amount. */
const shownOf = ({ currencies }: Revenue, currency: string) =>
  currencies.find((one) => one.currency === currency) ?? currencies.find((one) => one.currency === null)

interface ControlsProps {
  search: RevenueSearch
  range: Range
  currency: string
  used: string[]
}

function RevenueControls({ search, range, currency, used }: ControlsProps) {
  const texts = textsOf('analytics')
  const change = useChange<RevenueSearch>()
  return (
    <Controls>
      <SelectField
        name="currency"
        label={texts.currency}
        value={currency}
        options={[...new Set([currency, ...used])].toSorted().map((value) => ({ value, label: value }))}
        onChange={({ target: { value } }) => change({ currency: value })}
      />
      <RangeFields search={search} range={range} limits={OVER_TIME} />
      <div className={styles['check']}>
        <CheckboxField
          name="compare"
          label={texts.compare}
          checked={search.compare === true}
          onChange={({ target }) => change({ compare: target.checked || undefined })}
        />
      </div>
    </Controls>
  )
}
