/** How many contacts get from step to step. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { formatPercent } from '../../../format.ts'
import { Figure, Figures } from '../../../parts/value/figure.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import { AnalyticsPage, Result } from '../frame.tsx'
import { type Funnel, type FunnelQuery, funnelQuery } from '../queries.ts'
import { type Range, rangeOf } from '../range.ts'
import type { FunnelSearch } from '../search.ts'
import { FunnelControls, MIN_STEPS } from './controls.tsx'
import { Dropped } from './dropped.tsx'
import { StepTable } from './step-table.tsx'
import { stepsOf } from './steps.ts'

const DAY_SECONDS = 86_400

export function FunnelPage() {
  const texts = textsOf('analytics')
  const { id: businessId, timezone } = useBusiness()
  const canSee = useCan('contacts:read')
  const search: FunnelSearch = useSearch({ strict: false })
  const range = rangeOf(search, timezone)
  const asked = askOf(search, range)
  const query = useQuery(funnelQuery(businessId, asked))
  const step = query.isPlaceholderData ? undefined : query.data?.steps[(search.dropped ?? 0) - 1]
  return (
    <AnalyticsPage title={texts.tabs.funnel}>
      <Section
        title={texts.steps}
        intro={texts.stepsIntro}
        actions={<SaveToBoard kind="funnel" query={asked} title={texts.tabs.funnel} />}
      >
        <FunnelControls search={search} range={range} error={query.error} />
        <Result query={query} missing={missingOf(search)} isEmpty={({ steps: [first] }) => !first?.contacts}>
          {(data) => (
            <>
              <Whole funnel={data} />
              <StepTable funnel={data} search={search} />
            </>
          )}
        </Result>
      </Section>
      {canSee && asked !== null && step !== undefined && step.dropped > 0 && (
        <Dropped key={JSON.stringify([asked, search.dropped])} asked={asked} step={step} place={search.dropped ?? 1} />
      )}
    </AnalyticsPage>
  )
}

/** Returns what has to be chosen first. */
function missingOf(search: FunnelSearch): string | undefined {
  const texts = textsOf('analytics')
  const steps = stepsOf(search)
  if (steps.length < MIN_STEPS) return texts.tooFewSteps
  const events = new Set(steps.map(({ event }) => event))
  return search.order === 'any' && events.size < steps.length ? texts.sameSteps : undefined
}

/** Returns null while a choice is missing. */
function askOf(search: FunnelSearch, { from, to }: Range): FunnelQuery | null {
  if (missingOf(search) !== undefined) return null
  const { order = 'in_order', window } = search
  return {
    steps: JSON.stringify(stepsOf(search).map(({ event, where }) => ({ event, ...(where.length > 0 && { where }) }))),
    order,
    ...(window !== undefined && { windowSeconds: window * DAY_SECONDS }),
    from,
    ...(to !== undefined && { to }),
  }
}

function Whole({ funnel: { steps } }: { funnel: Funnel }) {
  const texts = textsOf('analytics')
  const last = steps.at(-1)
  return (
    <Figures>
      <Figure label={texts.entered}>
        <Num value={steps[0]?.contacts ?? 0} />
      </Figure>
      <Figure label={texts.arrived}>
        <Num value={last?.contacts ?? 0} />
      </Figure>
      <Figure label={texts.conversion}>{last?.conversion == null ? '–' : formatPercent(last.conversion)}</Figure>
    </Figures>
  )
}
