/** What browsers captured: visitors, sessions, pages, and sources. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { ButtonLink } from '../../../parts/action/button.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { CheckboxField } from '../../../parts/form/field.tsx'
import { Skeleton } from '../../../parts/feedback/loading.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import styles from '../analytics.module.css'
import { AnalyticsPage, Controls, Result, useChange } from '../frame.tsx'
import { OVER_TIME, intervalOf, rangeOf } from '../range.ts'
import { RangeFields } from '../range-fields.tsx'
import type { WebSearch } from '../search.ts'
import { PageTable } from './page-table.tsx'
import { type Traffic, type TrafficQuery, liveQuery, trafficQuery } from './queries.ts'
import { SourceTable } from './source-table.tsx'
import traffic from './traffic.module.css'
import { TrafficFigures } from './traffic.tsx'

export function WebPage() {
  const texts = textsOf('web')
  const { compare: compareText, tabs } = textsOf('analytics')
  const { id: businessId, timezone } = useBusiness()
  const search: WebSearch = useSearch({ strict: false })
  const change = useChange<WebSearch>()
  const range = rangeOf(search, timezone)
  const period = { from: range.from, ...(range.to !== undefined && { to: range.to }) }
  const asked: TrafficQuery = {
    ...period,
    interval: intervalOf(search.interval, range, OVER_TIME),
    ...(search.compare === true && { compare: 'true' }),
  }
  const query = useQuery(trafficQuery(businessId, asked))
  return (
    <AnalyticsPage title={tabs.web}>
      <Live businessId={businessId} />
      <Section title={texts.traffic} actions={<SaveToBoard kind="web" query={asked} title={tabs.web} />}>
        <Controls>
          <RangeFields search={search} range={range} limits={OVER_TIME} />
          <div className={styles['check']}>
            <CheckboxField
              name="compare"
              label={compareText}
              checked={search.compare === true}
              onChange={({ target }) => change({ compare: target.checked || undefined })}
            />
          </div>
        </Controls>
        <Result query={query} isEmpty={isEmpty} empty={<NoTraffic businessId={businessId} />}>
          {(data) => <TrafficFigures data={data} />}
        </Result>
      </Section>
      {/* Not before the figures are loaded: they would move the tables, and each request is costly. */}
      {query.data !== undefined && !isEmpty(query.data) && (
        <>
          <PageTable businessId={businessId} period={period} />
          <SourceTable businessId={businessId} period={period} by={search.by ?? 'source'} />
        </>
      )}
    </AnalyticsPage>
  )
}

const isEmpty = ({ visitors, sessions }: Traffic): boolean => visitors === 0 && sessions === 0

function NoTraffic({ businessId }: { businessId: string }) {
  const texts = textsOf('web')
  return (
    <Empty
      icon="chart"
      title={texts.noTrafficTitle}
      actions={
        <ButtonLink icon="code" to="/dashboard/b/$businessId/settings/business" params={{ businessId }}>
          {texts.addSnippet}
        </ButtonLink>
      }
    >
      {texts.noTraffic}
    </Empty>
  )
}

function Live({ businessId }: { businessId: string }) {
  const texts = textsOf('web')
  const { data, isPending } = useQuery(liveQuery(businessId))
  const shown = data === undefined ? '–' : <Num value={data.live} />
  return (
    <Section title={texts.live} intro={texts.liveNote}>
      <div className={traffic['live']}>{isPending ? <Skeleton width="60px" /> : shown}</div>
    </Section>
  )
}
