/** The fields of a step. A step of an unknown type is shown as JSON, and stays as it is until a person edits that. */
import { MESSAGE_CHANNELS } from '../../rules/channels.ts'
import { Suspense, lazy } from 'react'
import { locale } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { CheckboxField, SelectField, TextField } from '../../../parts/form/field.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './campaign-editor.module.css'
import { type StepType, getAt, isObject, listAt, listsOf, placeOf, setAt } from './definition.ts'
import { type StepProps, issueAt, useCampaignEditing } from './editing.ts'
import { DurationField, EventField, JsonField, NumberField } from './parts.tsx'
import { UpdateFields } from './update-fields.tsx'

const BranchRule = lazy(() => import('./branch-rule.tsx').then(({ BranchRule }) => ({ default: BranchRule })))

type FieldsType = StepType | 'part' | undefined

/** Returns the fields that show their own issues. */
export function fieldsOfStep(type: FieldsType): string[] {
  switch (type) {
    case 'send':
      return ['channel', 'template', 'kind']
    case 'wait':
      return ['for']
    case 'wait_until':
      return ['time', 'weekdays']
    case 'wait_for':
      return ['event', 'timeout']
    case 'branch':
      return ['rule']
    case 'update':
      return ['addTags', 'removeTags', 'traits']
    default:
      return []
  }
}

export function StepFields({ path, type }: { path: string; type: FieldsType }) {
  const { value, issues, change } = useCampaignEditing()
  const step = getAt(value, path)
  const props: StepProps = {
    step: isObject(step) ? step : {},
    path,
    issueOf: (name) => issueAt(issues, `${path}.${name}`),
    set: (name, next) => change(setAt(value, `${path}.${name}`, next)),
  }
  switch (type) {
    case 'send':
      return <Send {...props} />
    case 'wait':
      return <Wait {...props} />
    case 'wait_until':
      return <WaitUntil {...props} />
    case 'wait_for':
      return <WaitFor {...props} />
    case 'branch':
      return (
        <Suspense fallback={<Loading lines={2} />}>
          <BranchRule path={path} />
        </Suspense>
      )
    case 'split':
      return <Split {...props} />
    case 'part':
      return <Part {...props} />
    case 'update':
      return <UpdateFields {...props} />
    case 'exit':
      return <p className="muted small">{textsOf('campaign-editor').exitHint}</p>
    case undefined:
      return <Unknown path={path} step={step} />
  }
}

function Send({ step, path, issueOf, set }: StepProps) {
  const texts = textsOf('campaign-editor')
  const { channels, channel, deletedTemplate } = textsOf('campaigns')
  const { value, templates = [], change } = useCampaignEditing()
  const { template } = step
  const chosen = typeof template === 'string' ? template : ''
  const options = templates
    .filter((one) => one.channel === step['channel'])
    .map(({ templateId, name }) => ({ value: templateId, label: name }))
  const isListed = options.some((option) => option.value === chosen)
  const nameOf = (id: string) => templates.find(({ templateId }) => templateId === id)?.name
  return (
    <div className={styles['fields']}>
      <SelectField
        name={`${path}.channel`}
        label={channel}
        value={String(step['channel'])}
        options={MESSAGE_CHANNELS.map((one) => ({ value: one, label: channels[one] }))}
        error={issueOf('channel')}
        onChange={({ target }) => change(setAt(value, path, { ...step, channel: target.value, template: '' }))}
      />
      <SelectField
        name={`${path}.template`}
        label={texts.template}
        value={chosen}
        options={[
          ...(chosen === '' ? [{ value: '', label: texts.choose }] : []),
          ...(isListed || chosen === '' ? [] : [{ value: chosen, label: nameOf(chosen) ?? deletedTemplate }]),
          ...options,
        ]}
        hint={options.length === 0 ? texts.noTemplates : undefined}
        error={issueOf('template')}
        onChange={({ target }) => set('template', target.value)}
      />
      <SelectField
        name={`${path}.kind`}
        label={texts.kind}
        value={step['kind'] === 'transactional' ? 'transactional' : 'marketing'}
        options={(['marketing', 'transactional'] as const).map((one) => ({ value: one, label: texts.kinds[one] }))}
        error={issueOf('kind')}
        onChange={({ target }) => set('kind', target.value)}
      />
    </div>
  )
}

function Wait({ step, path, issueOf, set }: StepProps) {
  return (
    <DurationField
      name={`${path}.for`}
      label={textsOf('campaign-editor').howLong}
      value={step['for']}
      error={issueOf('for')}
      onChange={(next) => set('for', next)}
    />
  )
}

const DAYS = [1, 2, 3, 4, 5, 6, 7]
const DAY_NAMES = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })

function WaitUntil({ step, path, issueOf, set }: StepProps) {
  const texts = textsOf('campaign-editor')
  const { time, weekdays } = step
  const chosen: unknown[] = Array.isArray(weekdays) ? weekdays : []
  const choose = (day: number, isChosen: boolean) => {
    const next = DAYS.filter((one) => (one === day ? isChosen : chosen.includes(one)))
    set('weekdays', next.length === 0 ? undefined : next)
  }
  return (
    <div className={styles['fields']}>
      <TextField
        name={`${path}.time`}
        type="time"
        label={texts.time}
        value={typeof time === 'string' ? time : ''}
        error={issueOf('time')}
        onChange={(event) => set('time', event.target.value)}
      />
      <fieldset className={styles['days']}>
        <legend>{texts.weekdays}</legend>
        {DAYS.map((day, at) => (
          <CheckboxField
            key={day}
            name={`${path}.weekdays-${day}`}
            // 1 January 2024 was a Monday.
            label={DAY_NAMES.format(Date.UTC(2024, 0, day))}
            checked={chosen.includes(day)}
            error={at === 0 ? issueOf('weekdays') : undefined}
            onChange={(event) => choose(day, event.target.checked)}
          />
        ))}
      </fieldset>
    </div>
  )
}

function WaitFor({ step, path, issueOf, set }: StepProps) {
  const texts = textsOf('campaign-editor')
  return (
    <div className={styles['fields']}>
      <EventField
        name={`${path}.event`}
        label={texts.event}
        value={step['event']}
        error={issueOf('event')}
        onChange={(next) => set('event', next)}
      />
      <DurationField
        name={`${path}.timeout`}
        label={texts.atLongest}
        value={step['timeout']}
        error={issueOf('timeout')}
        onChange={(next) => set('timeout', next)}
      />
    </div>
  )
}

function Split({ step, set }: StepProps) {
  const texts = textsOf('campaign-editor')
  const parts = listAt(step, 'parts')
  return (
    <div className="row">
      <Button kind="quiet" size="small" icon="plus" onClick={() => set('parts', [...parts, { percent: 0, steps: [] }])}>
        {texts.addPart}
      </Button>
      <span className="muted small">{texts.partsHint}</span>
    </div>
  )
}

function Part({ step, path, issueOf, set }: StepProps) {
  const texts = textsOf('campaign-editor')
  const { value, change } = useCampaignEditing()
  const { at } = placeOf(path)
  const list = path.slice(0, path.lastIndexOf('['))
  const isOnly = listsOf(getAt(value, list.slice(0, -'.parts'.length))).length < 2
  return (
    <div className={styles['fields']}>
      <NumberField
        name={`${path}.percent`}
        label={texts.percent(String(at + 1))}
        value={step['percent']}
        error={issueOf('percent')}
        onChange={(next) => set('percent', next)}
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
