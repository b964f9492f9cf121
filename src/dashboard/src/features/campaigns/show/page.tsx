import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { Suspense, lazy } from 'react'
import { ApiError } from '../../../client.ts'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { Tab, Tabs } from '../../../parts/page/tabs.tsx'
import { NotFound } from '../../../parts/feedback/not-found.tsx'
import { useCan, useMe, useRemedy } from '../../../session/session.ts'
import { loadTexts, textsOf } from '../../../texts/index.ts'
import { CampaignStatus } from '../campaign-status.tsx'
import { type Campaign, type CampaignPath, campaignQuery } from '../queries.ts'
import { templatesQuery, withoutUnsubscribeQuery } from '../../templates/links.ts'
import { Trigger } from '../trigger.tsx'
import { listOf, walkSteps } from '../steps.ts'
import { useStepSpeaker } from '../use-step-speaker.ts'
import { Actions } from './actions.tsx'
import styles from './campaign.module.css'
import { Enrolments } from './enrolments.tsx'
import { ReportTab } from './report.tsx'
import type { CampaignSearch } from '../search.ts'
import { Steps } from './steps.tsx'
import { type Switch, useStep, useSwitch } from './use-change.ts'

const Messages = lazy(() => import('./messages.tsx').then(({ Messages }) => ({ default: Messages })))
const Simulation = lazy(async () => {
  const [{ Simulation }] = await Promise.all([import('./simulation.tsx'), loadTexts('simulation', 'campaign-editor')])
  return { default: Simulation }
})
const BacktestTab = lazy(async () => {
  const [{ BacktestTab }] = await Promise.all([import('./backtest.tsx'), loadTexts('backtest')])
  return { default: BacktestTab }
})

export function CampaignPage() {
  const texts = textsOf('campaigns')
  const path = useParams({ strict: false }) as CampaignPath
  const { data, error, refetch } = useQuery(campaignQuery(path))
  const step = useStep(path)
  const { shown, change, isPending, refused } = useSwitch(path, data)
  const bareNames = useWithoutUnsubscribe(path.businessId, shown?.campaign)
  if (error instanceof ApiError && error.status === 404) return <NotFound />
  if (shown === undefined || bareNames === undefined) {
    return (
      <Page title={texts.name}>
        {error === null ? <Loading /> : <ErrorBox error={error} onRetry={() => void refetch()} />}
      </Page>
    )
  }
  const { campaign } = shown
  // Ignore clicks while a change is pending: a double click on Pause would also resume.
  const onSwitch = (wanted: Switch) => !isPending && change(wanted)
  const isRefused = step.variables === 'publish' && step.error instanceof ApiError && step.error.issues.length > 0
  return (
    <Page title={campaign.name} actions={<Actions path={path} campaign={campaign} step={step} onSwitch={onSwitch} />}>
      <ErrorBox error={step.error} text={isRefused ? texts.notPublished : undefined} />
      <ErrorBox error={refused.at(-1)?.error ?? null} />
      {campaign.status === 'draft' && <Note>{texts.isDraft}</Note>}
      {campaign.status === 'paused' && <Note>{texts.isPaused}</Note>}
      {campaign.status !== 'archived' && <LinksNote campaign={campaign} />}
      {bareNames.length > 0 && <Note>{texts.noUnsubscribe(listOf(bareNames))}</Note>}
      <Facts businessId={path.businessId} campaign={campaign} />
      <Parts path={path} campaign={campaign} />
    </Page>
  )
}

/** Shown when messages would contain links that nobody can follow. */
function LinksNote({ campaign: { steps, tracking } }: { campaign: Campaign }) {
  const { needsPublicUrl } = textsOf('campaigns')
  const { isPublic } = useMe().installation
  const remedy = useRemedy(needsPublicUrl.remedies)
  const channels = walkSteps(steps).flatMap((step) => (step.type === 'send' ? [step.channel] : []))
  if (isPublic || channels.every((channel) => channel === 'webhook')) return null
  const isTracked = channels.includes('email') && (tracking.opens || tracking.clicks)
  return (
    <Note>
      {isTracked ? needsPublicUrl.tracking : needsPublicUrl.links} {remedy}
    </Note>
  )
}

/**
 * Returns the names of the templates whose marketing mails would not let their readers unsubscribe; undefined until they
 * are known. A note that came later would move the page.
 */
function useWithoutUnsubscribe(businessId: string, campaign: Campaign | undefined): string[] | undefined {
  const canSee = useCan('contacts:read')
  const steps = !canSee || campaign === undefined || campaign.status === 'archived' ? [] : walkSteps(campaign.steps)
  const wanted = steps.flatMap((step) =>
    step.type === 'send' && step.channel === 'email' && step.kind === 'marketing' ? [step.template] : [],
  )
  const templates = useQuery({ ...templatesQuery(businessId), enabled: wanted.length > 0 })
  // A deleted one is not asked for.
  const known = templates.data?.filter(({ templateId }) => wanted.includes(templateId)) ?? []
  const names = useQuery({
    ...withoutUnsubscribeQuery(businessId, known),
    enabled: known.length > 0,
    placeholderData: keepPreviousData,
  })
  if (wanted.length > 0 && templates.isPending) return undefined
  if (known.length > 0 && names.isPending) return undefined
  return known.length > 0 ? (names.data ?? []) : []
}

function Facts({ businessId, campaign }: { businessId: string; campaign: Campaign }) {
  const texts = textsOf('campaigns')
  const { nameOfSegment } = useStepSpeaker(businessId)
  const { status, trigger, enrolPer, goal, version } = campaign
  return (
    <section aria-label={texts.facts} className="card">
      <dl className={styles['facts']}>
        <div>
          <dt className="muted small">{texts.status}</dt>
          <dd>
            <CampaignStatus status={status} />
          </dd>
        </div>
        <div>
          <dt className="muted small">{texts.trigger}</dt>
          <dd>
            <Trigger trigger={trigger} nameOfSegment={nameOfSegment} />
          </dd>
        </div>
        <div>
          <dt className="muted small">{texts.goal}</dt>
          <dd>{goal === null ? texts.noGoal : <bdi className="foreign">{goal.event}</bdi>}</dd>
        </div>
        {enrolPer !== 'contact' && (
          <div>
            <dt className="muted small">{texts.enrolPer}</dt>
            <dd>
              <bdi className="foreign">{enrolPer.property}</bdi>
            </dd>
          </div>
        )}
        <div>
          <dt className="muted small">{texts.version}</dt>
          <dd className="numeric">{version}</dd>
        </div>
      </dl>
    </section>
  )
}

function Parts({ path, campaign }: { path: CampaignPath; campaign: Campaign }) {
  const texts = textsOf('campaigns')
  const { tab }: CampaignSearch = useSearch({ strict: false })
  const canSee = useCan('contacts:read')
  return (
    <>
      <Tabs label={texts.parts}>
        <PartTab tab={undefined} shown={tab} text={texts.report} />
        <PartTab tab="steps" shown={tab} text={texts.steps} />
        {canSee && <PartTab tab="enrolments" shown={tab} text={texts.enrolments} />}
        {canSee && <PartTab tab="messages" shown={tab} text={texts.messages} />}
        {canSee && <PartTab tab="simulate" shown={tab} text={texts.simulate} />}
        {canSee && <PartTab tab="backtest" shown={tab} text={texts.backtest} />}
      </Tabs>
      {tab === undefined && <ReportTab path={path} campaign={campaign} />}
      {tab === 'steps' && <Steps businessId={path.businessId} campaign={campaign} />}
      {tab === 'enrolments' && canSee && <Enrolments path={path} campaign={campaign} />}
      <Suspense fallback={<Loading lines={8} />}>
        {tab === 'messages' && canSee && <Messages path={path} campaign={campaign} />}
        {tab === 'simulate' && canSee && <Simulation path={path} campaign={campaign} />}
        {tab === 'backtest' && canSee && <BacktestTab path={path} campaign={campaign} />}
      </Suspense>
    </>
  )
}

interface PartTabProps {
  tab: CampaignSearch['tab']
  shown: CampaignSearch['tab']
  text: string
}

/** The link drops the state filter, which belongs to one list only. */
function PartTab({ tab, shown, text }: PartTabProps) {
  return (
    <Tab
      to="."
      search={{ tab }}
      activeOptions={{ exact: true, includeSearch: true }}
      {...(tab === shown && { 'aria-current': 'page' as const })}
    >
      {text}
    </Tab>
  )
}
