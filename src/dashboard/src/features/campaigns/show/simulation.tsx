/** What the campaign would do with a person. It uses the same rules that move real enrolments, and sends nothing. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ApiError, api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'
import { Badge, type BadgeKind } from '../../../parts/value/badge.tsx'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import { sayAtField } from '../../../without-path.ts'
import { EventField } from '../edit/parts.tsx'
import { InstantField } from '../edit/instant-field.tsx'
import { Content } from '../../templates/links.ts'
import type { Campaign, CampaignPath } from '../queries.ts'
import { describeReason, describeStepOf } from '../steps.ts'
import { useStepSpeaker } from '../use-step-speaker.ts'
import { ContactPicker } from '../../contacts/links.ts'
import { Sentence } from '../../rules/show/sentence.tsx'
import styles from './campaign.module.css'
import { MadeUpFields } from './made-up-fields.tsx'
import { type MadeUp, contactOf, emptyPerson } from './made-up.ts'

type Result = DataOf<'/dashboard/api/b/{businessId}/campaigns/{campaignId}/simulate', 'post'>

interface Answer {
  event: string
  at: string | undefined
}

interface SimulationProps {
  path: CampaignPath
  campaign: Campaign
}

export function Simulation({ path, campaign }: SimulationProps) {
  const texts = textsOf('simulation')
  const [isMadeUp, setMadeUp] = useState(false)
  const [contactId, setContactId] = useState<string>()
  const [person, setPerson] = useState<MadeUp>(emptyPerson)
  const [from, setFrom] = useState<string>()
  const [answers, setAnswers] = useState<readonly Answer[]>([])
  const simulate = useMutation({
    mutationFn: () => {
      const body = {
        ...(isMadeUp ? { contact: contactOf(person) } : { contactId: contactId ?? '' }),
        ...(from !== undefined && { from }),
        // The server rejects an event without a time.
        ...(answers.length > 0 && { answers: answers.map(({ event, at }) => ({ event, at: at ?? '' })) }),
      }
      return take(api.POST('/dashboard/api/b/{businessId}/campaigns/{campaignId}/simulate', { params: { path }, body }))
    },
  })
  const issues = simulate.error instanceof ApiError ? simulate.error.issues : []
  const issueOf = (name: string) => {
    const found = issues.find((issue) => issue.path === name)
    return found && sayAtField(found)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!simulate.isPending) simulate.mutate()
  }
  return (
    <>
      <Section title={texts.title} intro={texts.intro}>
        <form onSubmit={submit} noValidate className="stack">
          <div className={styles['filters']}>
            <SelectField
              name="who"
              label={texts.who}
              value={isMadeUp ? 'made-up' : 'contact'}
              options={[
                { value: 'contact', label: texts.contact },
                { value: 'made-up', label: texts.madeUp },
              ]}
              onChange={(event) => setMadeUp(event.target.value === 'made-up')}
            />
            <InstantField
              name="from"
              label={texts.from}
              hint={texts.fromHint}
              value={from}
              error={issueOf('from')}
              onChange={setFrom}
            />
          </div>
          {isMadeUp ? (
            <MadeUpFields person={person} issueOf={issueOf} onChange={setPerson} />
          ) : (
            <div>
              <ContactPicker businessId={path.businessId} contactId={contactId} onChoose={setContactId} />
            </div>
          )}
          <Answers answers={answers} issueOf={issueOf} onChange={setAnswers} />
          <ErrorBox error={simulate.error} />
          <div>
            <Button
              kind="primary"
              type="submit"
              icon="play"
              isPending={simulate.isPending}
              disabled={!isMadeUp && contactId === undefined}
            >
              {texts.run}
            </Button>
          </div>
        </form>
      </Section>
      {simulate.data !== undefined && (
        <Outcome result={simulate.data} campaign={campaign} businessId={path.businessId} />
      )}
    </>
  )
}

interface AnswersProps {
  answers: readonly Answer[]
  issueOf: (name: string) => string | undefined
  onChange: (answers: readonly Answer[]) => void
}

function Answers({ answers, issueOf, onChange }: AnswersProps) {
  const texts = textsOf('simulation')
  return (
    <fieldset className="stack">
      <legend className={styles['label']}>{texts.answers}</legend>
      {answers.map((answer, at) => (
        <div key={at} className={styles['filters']} role="group" aria-label={texts.answer(String(at + 1))}>
          <EventField
            name={`answers.${at}.event`}
            label={texts.event}
            value={answer.event}
            error={issueOf(`answers.${at}.event`)}
            onChange={(event) => onChange(answers.with(at, { ...answer, event }))}
          />
          <InstantField
            name={`answers.${at}.at`}
            label={texts.at}
            value={answer.at}
            error={issueOf(`answers.${at}.at`)}
            onChange={(next) => onChange(answers.with(at, { ...answer, at: next }))}
          />
          <Button
            kind="quiet"
            icon="close"
            aria-label={texts.removeAnswer(String(at + 1))}
            onClick={() => onChange(answers.toSpliced(at, 1))}
          />
        </div>
      ))}
      <div>
        <Button
          kind="quiet"
          size="small"
          icon="plus"
          onClick={() => onChange([...answers, { event: '', at: undefined }])}
        >
          {texts.addAnswer}
        </Button>
      </div>
    </fieldset>
  )
}

const KINDS: Record<Result['sends'][number]['state'], BadgeKind> = { sent: 'good', skipped: 'warn', failed: 'bad' }

function Outcome({ result, campaign, businessId }: { result: Result; campaign: Campaign; businessId: string }) {
  const texts = textsOf('simulation')
  const { messageStates } = textsOf('campaigns')
  const speaker = useStepSpeaker(businessId)
  const { sends, state, endsAt } = result
  return (
    <Section title={texts.result}>
      <div role="status" className="stack">
        {sends.length === 0 && <p>{texts.nothing}</p>}
        <ol className={styles['sends']}>
          {sends.map((send, at) => (
            <li key={at} className="stack">
              <p className="row">
                <Time at={send.at} />
                <Badge kind={KINDS[send.state]}>{messageStates[send.state]}</Badge>
                <Sentence parts={describeStepOf(campaign.steps, send.stepId, speaker)} />
                {send.reason !== null && <span className="muted">{describeReason(send.reason)}</span>}
              </p>
              {send.detail !== null && <p className="foreign muted">{send.detail}</p>}
              {send.message !== null && (
                <details>
                  <summary>{texts.message}</summary>
                  <Content src={undefined} rendering={send.message} title={texts.message} />
                </details>
              )}
            </li>
          ))}
        </ol>
        <p>
          {texts.ends[state]} {endsAt !== null && <Time at={endsAt} />}
        </p>
      </div>
    </Section>
  )
}
