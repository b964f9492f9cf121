/** The fields of a step. A step of an unknown type is shown as JSON, and stays as it is until a person edits that. */
import { MESSAGE_CHANNELS } from '../../rules/channels.ts'
import { type ComponentType, Suspense, lazy } from 'react'
import {
  type FieldKind,
  MESSAGE_KINDS,
  type Rows,
  type StepType,
  fieldsOf,
} from '../../../../../rules/campaigns/steps.ts'
import { type WithoutLists, isListKind } from '../../../../../rules/campaigns/walk-steps.ts'
import { locale } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { CheckboxField, SelectField, TextField } from '../../../parts/form/field.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './campaign-editor.module.css'
import { getAt, isObject, listAt, listsOf, placeOf, setAt } from './definition.ts'
import { type StepFieldProps, issueAt, useCampaignEditing } from './editing.ts'
import { DurationField, EventField, JsonField, NumberField } from './parts.tsx'
import { SameKey } from './key-fields.tsx'
import { SenderField } from './sender-field.tsx'
import { TopicField } from './topic-field.tsx'
import { TagsField, TraitsField } from './update-fields.tsx'
import { WhereFields } from './where-fields.tsx'

const BranchRule = lazy(() => import('./branch-rule.tsx').then(({ BranchRule }) => ({ default: BranchRule })))

/** Null: the field is drawn with the lists of steps in it. */
const EDITORS: Record<FieldKind, ComponentType<StepFieldProps> | null> = {
  channel: ChannelField,
  template: TemplateField,
  messageKind: MessageKindField,
  sender: SenderField,
  topic: TopicField,
  duration: DurationField,
  time: TimeField,
  weekdays: WeekdaysField,
  event: EventField,
  where: StepWhere,
  sameKey: ({ path }) => <SameKey path={path} />,
  rule: RuleField,
  steps: null,
  parts: PartsField,
  tags: TagsField,
  traits: TraitsField,
}

type FieldName = { [Type in StepType]: keyof WithoutLists<Rows[Type]['fields']> }[StepType]

/** Returns the fields that show their own issues. */
export const shownFieldsOf = (type: StepType): string[] =>
  fieldsOf(type).flatMap(([name, { kind }]) => (isListKind(kind) ? [] : [name]))

export function StepFields({ path, type }: { path: string; type: StepType | undefined }) {
  const { value, issues, change } = useCampaignEditing()
  const sent = getAt(value, path)
  if (type === undefined) return <Unknown path={path} step={sent} />
  if (type === 'exit') return <p className="muted small">{textsOf('campaign-editor').exitHint}</p>
  const step = isObject(sent) ? sent : {}
  const labels: Record<FieldName, string> = textsOf('campaigns').stepFields
  return (
    <div className={styles['fields']}>
      {fieldsOf(type).map(([name, { kind }]) => {
        const Field = EDITORS[kind]
        return (
          Field && (
            <Field
              key={name}
              step={step}
              path={path}
              name={`${path}.${name}`}
              label={labels[name as FieldName]}
              value={step[name]}
              error={issueAt(issues, `${path}.${name}`)}
              onChange={(next) => change(setAt(value, `${path}.${name}`, next))}
            />
          )
        )
      })}
    </div>
  )
}

function StepWhere({ path, value }: StepFieldProps) {
  return <WhereFields path={path} where={value ?? undefined} add={textsOf('campaign-editor').addWhere} />
}

/** The template is one of the channel. */
function ChannelField({ step, path, value: chosen, onChange: _, ...rest }: StepFieldProps) {
  const { value, change } = useCampaignEditing()
  const { channels } = textsOf('campaigns')
  return (
    <SelectField
      {...rest}
      value={String(chosen)}
      options={MESSAGE_CHANNELS.map((one) => ({ value: one, label: channels[one] }))}
      onChange={({ target }) => {
        const { sender: __, topic: ___, ...others } = step
        change(setAt(value, path, { ...others, channel: target.value, template: '' }))
      }}
    />
  )
}

function TemplateField({ step, path: _, value, onChange, ...rest }: StepFieldProps) {
  const texts = textsOf('campaign-editor')
  const { templates = [] } = useCampaignEditing()
  const chosen = typeof value === 'string' ? value : ''
  const options = templates
    .filter((one) => one.channel === step['channel'])
    .map(({ templateId, name }) => ({ value: templateId, label: name }))
  const isListed = options.some((option) => option.value === chosen)
  const nameOf = (id: string) => templates.find(({ templateId }) => templateId === id)?.name
  return (
    <SelectField
      {...rest}
      value={chosen}
      options={[
        ...(chosen === '' ? [{ value: '', label: texts.choose }] : []),
        ...(isListed || chosen === ''
          ? []
          : [{ value: chosen, label: nameOf(chosen) ?? textsOf('campaigns').deletedTemplate }]),
        ...options,
      ]}
      hint={options.length === 0 ? texts.noTemplates : undefined}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}

function MessageKindField({ step: _, path: _path, value, onChange, ...rest }: StepFieldProps) {
  const texts = textsOf('campaign-editor')
  return (
    <SelectField
      {...rest}
      value={value === 'transactional' ? 'transactional' : 'marketing'}
      options={MESSAGE_KINDS.map((one) => ({ value: one, label: texts.kinds[one] }))}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}

function TimeField({ step: _, path: _path, value, onChange, ...rest }: StepFieldProps) {
  return (
    <TextField
      {...rest}
      type="time"
      value={typeof value === 'string' ? value : ''}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

const DAYS = [1, 2, 3, 4, 5, 6, 7]
const DAY_NAMES = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })

function WeekdaysField({ name, label, value, error, onChange }: StepFieldProps) {
  const chosen: unknown[] = Array.isArray(value) ? value : []
  const choose = (day: number, isChosen: boolean) => {
    const next = DAYS.filter((one) => (one === day ? isChosen : chosen.includes(one)))
    onChange(next.length === 0 ? undefined : next)
  }
  return (
    <fieldset className={styles['days']}>
      <legend>{label}</legend>
      {DAYS.map((day, at) => (
        <CheckboxField
          key={day}
          name={`${name}-${day}`}
          // 1 January 2024 was a Monday.
          label={DAY_NAMES.format(Date.UTC(2024, 0, day))}
          checked={chosen.includes(day)}
          error={at === 0 ? error : undefined}
          onChange={(event) => choose(day, event.target.checked)}
        />
      ))}
    </fieldset>
  )
}

function RuleField({ path, label }: StepFieldProps) {
  return (
    <Suspense fallback={<Loading lines={2} />}>
      <BranchRule path={path} label={label} />
    </Suspense>
  )
}

function PartsField({ value, onChange }: StepFieldProps) {
  const texts = textsOf('campaign-editor')
  const parts: unknown[] = Array.isArray(value) ? value : []
  return (
    <div className={`row ${styles['wide']}`}>
      <Button kind="quiet" size="small" icon="plus" onClick={() => onChange([...parts, { percent: 0, steps: [] }])}>
        {texts.addPart}
      </Button>
      <span className="muted small">{texts.partsHint}</span>
    </div>
  )
}

/** A part of a split. */
export function PartFields({ path }: { path: string }) {
  const texts = textsOf('campaign-editor')
  const { value, issues, change } = useCampaignEditing()
  const { at } = placeOf(path)
  const list = path.slice(0, path.lastIndexOf('['))
  const isOnly = listsOf(getAt(value, list.slice(0, -'.parts'.length))).length < 2
  return (
    <div className={styles['fields']}>
      <NumberField
        name={`${path}.percent`}
        label={texts.percent(String(at + 1))}
        value={getAt(value, `${path}.percent`)}
        error={issueAt(issues, `${path}.percent`)}
        onChange={(next) => change(setAt(value, `${path}.percent`, next))}
      />
      {!isOnly && (
        <Button
          kind="quiet"
          icon="trash"
          aria-label={texts.removePart(String(at + 1))}
          onClick={() => change(setAt(value, list, listAt(value, list).toSpliced(at, 1)))}
        />
      )}
    </div>
  )
}

function Unknown({ path, step }: { path: string; step: unknown }) {
  const texts = textsOf('campaign-editor')
  const { value, change } = useCampaignEditing()
  return (
    <JsonField
      name={path}
      label={texts.stepJson}
      hint={texts.stepJsonHint}
      value={step}
      error={undefined}
      onChange={(next) => change(setAt(value, path, next))}
    />
  )
}
