/** The number of contacts in each stage, and the moves between stages. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { Section } from '../../../parts/page/page.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import { AnalyticsPage, Controls, Result } from '../frame.tsx'
import { stagesQuery } from '../journey-queries.ts'
import { OVER_TIME, intervalOf, rangeOf } from '../range.ts'
import { RangeFields } from '../range-fields.tsx'
import type { RangeSearch } from '../search.ts'
import { Moves } from './moves.tsx'
import { StageCounts } from './stage-counts.tsx'

export function StagesPage() {
  const texts = textsOf('journeys')
  const { id: businessId, timezone } = useBusiness()
  const search: RangeSearch = useSearch({ strict: false })
  const range = rangeOf(search, timezone)
  const { from, to } = range
  const interval = intervalOf(search.interval, range, OVER_TIME)
  const asked = { from, ...(to !== undefined && { to }), interval }
  const query = useQuery(stagesQuery(businessId, asked))
  return (
    <AnalyticsPage title={textsOf('analytics').tabs.stages}>
      <Section title={texts.stagesNow}>
        <Result query={query} isEmpty={() => false}>
          {({ stages }) => <StageCounts stages={stages} />}
        </Result>
      </Section>
      {/* Not before the stages are loaded: they would move it. */}
      {!query.isPending && (
        <Section
          title={texts.moves}
          intro={texts.movesIntro}
          actions={<SaveToBoard kind="stages" query={asked} title={textsOf('analytics').tabs.stages} />}
        >
          <Controls>
            <RangeFields search={search} range={range} limits={OVER_TIME} />
          </Controls>
          <Result query={query} isEmpty={({ moves }) => moves.length === 0}>
            {(data) => <Moves data={data} />}
          </Result>
        </Section>
      )}
    </AnalyticsPage>
  )
}
