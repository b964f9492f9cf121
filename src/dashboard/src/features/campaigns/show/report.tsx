/** The outcome of enrolments, and of the messages of each step. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { formatNumber, formatPercent } from '../../../format.ts'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { TextField } from '../../../parts/form/field.tsx'
import { Figure, Figures } from '../../../parts/value/figure.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import {
  type Campaign,
  type CampaignPath,
  ENROLMENT_STATES,
  MESSAGE_STATES,
  type Report,
  type ReportRange,
  reportQuery,
} from '../queries.ts'
import { useStepSpeaker } from '../use-step-speaker.ts'
import styles from './campaign.module.css'
import type { CampaignSearch } from '../search.ts'
import { StepFigures } from './step-figures.tsx'

const PROGRESS_MS = 2000

export function ReportTab({ path, campaign }: { path: CampaignPath; campaign: Campaign }) {
  const texts = textsOf('campaigns')
  const speaker = useStepSpeaker(path.businessId)
  const search: CampaignSearch = useSearch({ strict: false })
  const { data, error, refetch } = useQuery({
    ...reportQuery(path, rangeOf(search)),
    // Reload while a broadcast is enrolling its members.
    refetchInterval: ({ state }) =>
      campaign.status === 'published' && state.data?.report.broadcast?.doneAt === null ? PROGRESS_MS : false,
  })
  if (error !== null) {
    return (
      <>
        <Range search={search} />
        <ErrorBox error={error} onRetry={() => void refetch()} />
      </>
    )
  }
  if (data === undefined) return <Loading lines={8} />
  const { report } = data
  return (
    <>
      <Range search={search} />
      <Section title={texts.enrolments}>
        <Totals report={report} />
      </Section>
      <Section title={texts.sends} intro={texts.sendsIntro}>
        {report.steps.length === 0 ? (
          <p className="muted">{texts.noSends}</p>
        ) : (
          <StepFigures
            label={texts.sends}
            campaign={campaign}
            speaker={speaker}
            rows={report.steps.map((step) => figuresOf(step))}
          />
        )}
      </Section>
    </>
  )
}

/** Converts the reader's calendar days to instants. */
function rangeOf({ from, to }: CampaignSearch): ReportRange {
  const [first, last] = [new Date(`${from}T00:00:00`), new Date(`${to}T23:59:59.999`)]
  return {
    ...(!Number.isNaN(first.getTime()) && { from: first.toISOString() }),
    ...(!Number.isNaN(last.getTime()) && { to: last.toISOString() }),
  }
}

function Range({ search: { from, to } }: { search: CampaignSearch }) {
  const texts = textsOf('campaigns')
  const navigate = useNavigate()
  const show = (range: Record<'from' | 'to', string | undefined>) =>
    void navigate({ to: '.', search: range, replace: true, resetScroll: false })
  return (
    <search className={styles['filters']}>
      <TextField
        name="from"
        type="date"
        label={texts.rangeFrom}
        value={from ?? ''}
        max={to}
        onChange={(event) => show({ from: event.target.value || undefined, to })}
      />
      <TextField
        name="to"
        type="date"
        label={texts.rangeTo}
        value={to ?? ''}
        min={from}
        onChange={(event) => show({ from, to: event.target.value || undefined })}
      />
    </search>
  )
}

function Totals({ report: { enrolments, conversionRate, broadcast } }: { report: Report }) {
  const texts = textsOf('campaigns')
  return (
    <Figures isDense>
      {broadcast !== null && (
        <Figure label={texts.membersEnrolled} note={broadcast.members === null ? texts.notBegun : undefined}>
          {broadcast.members === null
            ? '–'
            : `${formatNumber(broadcast.enrolled)} / ${formatNumber(broadcast.members)}`}
        </Figure>
      )}
      <Figure label={texts.enrolled}>
        <Num value={enrolments.enrolled} />
      </Figure>
      {ENROLMENT_STATES.map((state) => (
        <Figure key={state} label={texts.enrolmentStates[state]}>
          <Num value={enrolments[state]} />
        </Figure>
      ))}
      <Figure label={texts.conversionRate} note={texts.conversionNote}>
        {conversionRate === null ? '–' : formatPercent(conversionRate)}
      </Figure>
    </Figures>
  )
}

/** `skipped` is counted by reasons. */
const COUNTED = MESSAGE_STATES.filter((state) => state !== 'skipped')

function figuresOf(step: Report['steps'][number]) {
  const { messageStates } = textsOf('campaigns')
  const figures = COUNTED.map((state) => ({ label: messageStates[state], value: step[state] }))
  return { stepId: step.stepId, figures, skipped: step.skipped }
}
