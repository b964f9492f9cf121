/** The result of a backtest: the figures, each step, each day, some enrolments, and the approximations. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatNumber, formatPercent } from '../../../format.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { Figure, Figures } from '../../../parts/value/figure.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { Money, Num, Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import type { Backtest, Campaign } from '../queries.ts'
import { type StepSpeaker, describeReason, describeStepOf } from '../steps.ts'
import { useStepSpeaker } from '../use-step-speaker.ts'
import { withNames } from '../../contacts/links.ts'
import { entryOf } from '../../rules/entry-of.ts'
import { Sentence } from '../../rules/show/sentence.tsx'
import styles from './campaign.module.css'
import { StepFigures } from './step-figures.tsx'

type Result = NonNullable<Backtest['result']>
type DayRow = Result['days'][number]
type Sample = Result['samples'][number]

interface OutcomeProps {
  result: Result
  campaign: Campaign
  businessId: string
}

export function BacktestOutcome({ result, campaign, businessId }: OutcomeProps) {
  const texts = textsOf('backtest')
  const speaker = useStepSpeaker(businessId)
  return (
    <>
      <Section title={texts.result}>
        <div role="status">
          <Totals result={result} />
        </div>
        {!result.isComplete && <Note>{texts.incomplete(formatNumber(result.leftOut))}</Note>}
      </Section>
      {result.entered > 0 && (
        <>
          <Section title={texts.steps}>
            <StepFigures
              label={texts.steps}
              campaign={campaign}
              speaker={speaker}
              rows={result.steps.map((step) => figuresOf(step))}
            />
          </Section>
          <Section title={texts.samples}>
            <Samples samples={result.samples} campaign={campaign} businessId={businessId} speaker={speaker} />
          </Section>
          <Section title={texts.days}>
            <Table label={texts.days} columns={dayColumns()} rows={result.days} keyOf={({ day }) => day} empty={null} />
          </Section>
        </>
      )}
      <Section title={texts.approximations}>
        <ul>
          {result.approximations.map((one) => (
            <li key={one}>{entryOf(texts.approximationTexts, one) ?? one}</li>
          ))}
        </ul>
      </Section>
    </>
  )
}

const STATES = ['active', 'finished', 'converted', 'stopped'] as const

function Totals({ result }: { result: Result }) {
  const texts = textsOf('backtest')
  const { enrolmentStates, conversionRate, conversionNote } = textsOf('campaigns')
  if (result.entered === 0) return <p>{texts.nobody}</p>
  return (
    <Figures>
      <Figure label={texts.contacts}>
        <Num value={result.contacts} />
      </Figure>
      <Figure label={texts.entered}>
        <Num value={result.entered} />
      </Figure>
      {STATES.map((state) => (
        <Figure key={state} label={enrolmentStates[state]}>
          <Num value={result[state]} />
        </Figure>
      ))}
      {result.heldOut > 0 && (
        <Figure label={texts.heldOut}>
          <Num value={result.heldOut} />
        </Figure>
      )}
      <Figure label={texts.sent}>
        <Num value={result.sent} />
      </Figure>
      <Figure label={conversionRate} note={conversionNote}>
        {result.conversionRate === null ? '–' : formatPercent(result.conversionRate)}
      </Figure>
      {Object.entries(result.revenue).map(([currency, amount]) => (
        <Figure key={currency} label={texts.revenue} note={texts.revenueNote}>
          <Money amount={amount} currency={currency} />
        </Figure>
      ))}
    </Figures>
  )
}

/** Only steps that send have a channel. */
function figuresOf({ stepId, entered, channel, sent, skipped }: Result['steps'][number]) {
  const figures = [{ label: textsOf('backtest').reached, value: entered }]
  if (channel === null) return { stepId, figures, skipped: null }
  figures.push({ label: textsOf('campaigns').messageStates.sent, value: sent })
  return { stepId, figures, skipped }
}

function dayColumns(): Column<DayRow>[] {
  const texts = textsOf('backtest')
  const { enrolmentStates } = textsOf('campaigns')
  const figure = (key: 'entered' | 'sent' | 'converted', header: string): Column<DayRow> => ({
    key,
    header,
    width: 'minmax(92px, 1fr)',
    align: 'end',
    cell: (row) => <Num value={row[key]} />,
  })
  return [
    {
      key: 'day',
      header: texts.day,
      width: 'minmax(110px, 1fr)',
      cell: ({ day }) => <Time at={`${day}T12:00`} as="day" />,
    },
    figure('entered', texts.entered),
    figure('sent', texts.sent),
    figure('converted', enrolmentStates.converted),
  ]
}

interface SamplesProps extends Omit<OutcomeProps, 'result'> {
  samples: Sample[]
  speaker: StepSpeaker
}

function Samples({ samples, campaign, businessId, speaker }: SamplesProps) {
  const texts = textsOf('backtest')
  const { enrolmentStates } = textsOf('campaigns')
  const { data: rows = samples.map((sample) => ({ ...sample, name: undefined })) } = useQuery({
    queryKey: ['backtest-names', businessId, samples],
    queryFn: ({ signal }) => withNames(businessId, samples, true, signal),
  })
  return (
    <ol className={styles['sends']}>
      {rows.map(({ contactId, name, state, enrolledAt, endsAt, sends }, at) => (
        <li key={at} className="stack">
          <p className="row">
            <Link
              to="/dashboard/b/$businessId/contacts/$contactId"
              params={{ businessId, contactId }}
              className="foreign"
            >
              {name ?? texts.unnamed}
            </Link>
            <Time at={enrolledAt} />
            <Badge kind={state === 'converted' ? 'good' : 'neutral'}>{enrolmentStates[state]}</Badge>
            {endsAt !== null && <Time at={endsAt} />}
          </p>
          {sends.length > 0 && (
            <ul aria-label={texts.messages}>
              {sends.map((send, place) => (
                <li key={place}>
                  <Time at={send.at} /> <Sentence parts={describeStepOf(campaign.steps, send.stepId, speaker)} />{' '}
                  {send.reason !== null && <span className="muted">{texts.notSent(describeReason(send.reason))}</span>}
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ol>
  )
}
