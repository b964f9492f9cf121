/** What starts the campaign, its purpose, and who may enter again. */
import { useQuery } from '@tanstack/react-query'
import { CheckboxField, SelectField, TextField } from '../../../parts/form/field.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { textsOf } from '../../../texts/index.ts'
import { segmentsQuery } from '../../rules/queries.ts'
import styles from './campaign-editor.module.css'
import { type Json, isObject, setAt } from './definition.ts'
import { issueAt, otherIssues, useCampaignEditing } from './editing.ts'
import { InstantField } from './instant-field.tsx'
import { EnrolPer, SameKey } from './key-fields.tsx'
import { EventField, Issues, JsonField } from './parts.tsx'
import { WEB_KINDS, WebTrigger } from './web-trigger.tsx'
import { WhereFields } from './where-fields.tsx'

const SEGMENT_KINDS = ['enter', 'leave', 'members'] as const
type SegmentKind = (typeof SEGMENT_KINDS)[number]
const KINDS = ['event', ...WEB_KINDS, ...SEGMENT_KINDS] as const
type Kind = (typeof KINDS)[number]

/** Returns undefined for a trigger of an unknown form. */
function kindOf(trigger: unknown): Kind | undefined {
  if (!isObject(trigger)) return undefined
  if (typeof trigger['event'] === 'string') return 'event'
  if (trigger['web'] !== undefined) return WEB_KINDS.find((one) => one === trigger['web'])
  return typeof trigger['segment'] === 'string' ? SEGMENT_KINDS.find((one) => one === trigger['on']) : undefined
}

function triggerOf(kind: string, before: unknown): Json {
  if (kind === 'event') return { event: '' }
  if (WEB_KINDS.some((one) => one === kind)) return { web: kind }
  return { segment: segmentOf(before), on: kind }
}

/** Keys are for events alone. */
function withTrigger(value: Json, trigger: Json): Json {
  const next = setAt(value, 'trigger', trigger)
  return 'event' in trigger ? next : setAt(setAt(next, 'enrolPer', 'contact'), 'whileActive', 'ignore')
}

interface StartProps {
  /** A new campaign without a goal omits the field; a change sets it to null. */
  isNew: boolean
  isLocked: boolean
}

export function StartFields({ isNew, isLocked }: StartProps) {
  const texts = textsOf('campaign-editor')
  const { value, issues, change } = useCampaignEditing()
  const { trigger, goal, canEnterAgain } = value
  const kind = kindOf(trigger)
  const webKind = WEB_KINDS.find((one) => one === kind)
  const segmentKind = SEGMENT_KINDS.find((one) => one === kind)
  const noGoal = isNew ? undefined : null
  const setGoal = (event: string) => change(setAt(value, 'goal', event === '' ? noGoal : { ...own(goal), event }))
  return (
    <Section title={texts.start} intro={texts.startIntro}>
      {isLocked && <Note>{texts.locked}</Note>}
      <fieldset disabled={isLocked} aria-label={texts.start} className="stack">
        <SelectField
          name="trigger"
          label={texts.trigger}
          value={kind ?? 'other'}
          options={[
            ...KINDS.map((one) => ({ value: one as string, label: texts.triggers[one] })),
            ...(kind === undefined ? [{ value: 'other', label: texts.otherTrigger }] : []),
          ]}
          error={kind === undefined ? undefined : issueAt(issues, 'trigger.on')}
          onChange={(event) => change(withTrigger(value, triggerOf(event.target.value, trigger)))}
        />
        {kind === undefined && (
          <JsonField
            name="trigger-json"
            label={texts.triggerJson}
            value={trigger}
            error={issueAt(issues, 'trigger')}
            onChange={(next) => change(setAt(value, 'trigger', next))}
          />
        )}
        {kind === 'event' && <EventTrigger trigger={trigger as Json} />}
        {webKind !== undefined && <WebTrigger trigger={trigger as Json} kind={webKind} />}
        {segmentKind !== undefined && <SegmentTrigger trigger={trigger as Json} kind={segmentKind} />}
        <div className={styles['two']}>
          <EventField
            name="goal"
            label={texts.goal}
            hint={texts.goalHint}
            value={own(goal)['event']}
            error={issueAt(issues, 'goal.event') ?? issues.find(({ path }) => path === 'goal')?.message}
            onChange={setGoal}
          />
        </div>
        {typeof own(goal)['event'] === 'string' && (
          <>
            <WhereFields path="goal" where={own(goal)['where']} add={texts.addGoalWhere} />
            <SameKey path="goal" />
          </>
        )}
        {kind === 'event' && <EnrolPer />}
        {kind !== 'members' && (
          <CheckboxField
            name="canEnterAgain"
            label={texts.canEnterAgain}
            hint={texts.canEnterAgainHint}
            checked={canEnterAgain === true}
            error={issueAt(issues, 'canEnterAgain')}
            onChange={(event) => change(setAt(value, 'canEnterAgain', event.target.checked))}
          />
        )}
      </fieldset>
    </Section>
  )
}

const own = (value: unknown): Json => (isObject(value) ? value : {})
const segmentOf = (trigger: unknown): unknown => own(trigger)['segment'] ?? ''

function EventTrigger({ trigger }: { trigger: Json }) {
  const texts = textsOf('campaign-editor')
  const { value, issues, change } = useCampaignEditing()
  const set = (name: string, next: unknown) => change(setAt(value, `trigger.${name}`, next))
  const { where, sources } = trigger
  return (
    <>
      <div className={styles['two']}>
        <EventField
          name="trigger-event"
          label={texts.event}
          value={trigger['event']}
          error={issueAt(issues, 'trigger.event')}
          onChange={(event) => set('event', event)}
        />
      </div>
      <WhereFields path="trigger" where={where} add={texts.addWhere} />
      <CheckboxField
        name="sources"
        label={texts.serversOnly}
        hint={texts.serversOnlyHint}
        checked={Array.isArray(sources) && sources.includes('live')}
        error={issueAt(issues, 'trigger.sources')}
        onChange={(event) => set('sources', event.target.checked ? ['live'] : undefined)}
      />
      <Issues issues={otherIssues(issues, 'trigger', SHOWN)} />
    </>
  )
}

const SHOWN = ['trigger.event', 'trigger.where', 'trigger.sources']

function SegmentTrigger({ trigger, kind }: { trigger: Json; kind: SegmentKind }) {
  const texts = textsOf('campaign-editor')
  const { businessId, value, issues, change } = useCampaignEditing()
  const segments = useQuery(segmentsQuery(businessId)).data?.segments ?? []
  const { segment, at } = trigger
  const options = segments.map(({ segmentId, name }) => ({ value: segmentId, label: name }))
  const isKnown = options.some((option) => option.value === segment)
  return (
    <div className={styles['two']}>
      <SelectField
        name="segment"
        label={texts.segment}
        value={typeof segment === 'string' ? segment : ''}
        options={[
          ...(segment === '' ? [{ value: '', label: texts.choose }] : []),
          ...(isKnown || segment === ''
            ? []
            : [{ value: String(segment), label: textsOf('campaigns').deletedSegment }]),
          ...options,
        ]}
        error={issueAt(issues, 'trigger.segment')}
        onChange={(event) => change(setAt(value, 'trigger.segment', event.target.value))}
      />
      {kind === 'members' && (
        <InstantField
          name="at"
          label={texts.at}
          hint={texts.atHint}
          value={at}
          error={issueAt(issues, 'trigger.at')}
          onChange={(next) => change(setAt(value, 'trigger.at', next))}
        />
      )}
    </div>
  )
}

export function NameField() {
  const { value, issues, change } = useCampaignEditing()
  const { name } = value
  return (
    <TextField
      name="name"
      label={textsOf('campaign-editor').name}
      value={typeof name === 'string' ? name : ''}
      maxLength={256}
      dir="auto"
      autoComplete="off"
      error={issueAt(issues, 'name')}
      onChange={(event) => change(setAt(value, 'name', event.target.value))}
    />
  )
}
