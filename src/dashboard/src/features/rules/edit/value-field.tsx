/** The input of a value, in the form that its operator needs. */
import type { Operand } from '../../../../../rules/segments/grammar/operators.ts'
import { type ReactNode, useId, useState } from 'react'
import { CheckboxField, SelectField, TextAreaField, TextField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import { STAGES } from '../stages.ts'
import { textIn } from '../condition.ts'
import styles from './rule-editor.module.css'

/** `label` says in words what the value means. */
export interface Suggestion {
  value: string
  label?: string
}

interface ValueFieldProps {
  shape: Operand
  value: unknown
  error: string | undefined
  onChange: (value: unknown) => void
  suggestions?: readonly Suggestion[]
  hint?: string | undefined
}

export function ValueField(props: ValueFieldProps) {
  if (props.shape === 'none') return null
  const Field = FIELDS[props.shape]
  return <Field {...props} />
}

const FIELDS: Record<Exclude<Operand, 'none'>, (props: ValueFieldProps) => ReactNode> = {
  days: Days,
  instant: Instant,
  number: PlainNumber,
  range: Range,
  text: Text,
  texts: Texts,
  stage: Stage,
  stages: Stages,
}

function Days({ value, error, onChange }: ValueFieldProps) {
  const { days } = textsOf('segments')
  return <NumberField name="value" label={days} isLabelHidden value={value} error={error} onChange={onChange} />
}

function PlainNumber({ value, error, onChange }: ValueFieldProps) {
  const texts = textsOf('segments')
  return <NumberField name="value" label={texts.value} isLabelHidden value={value} error={error} onChange={onChange} />
}

function Stage({ value, error, onChange }: ValueFieldProps) {
  return (
    <SelectField
      name="value"
      label={textsOf('segments').value}
      isLabelHidden
      value={String(value)}
      options={STAGES.map((stage) => ({ value: stage, label: stage }))}
      error={error}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

interface NumberFieldProps {
  name: string
  label: string
  isLabelHidden?: boolean
  value: unknown
  error: string | undefined
  onChange: (value: number | null) => void
}

/** Null while it is empty. A decimal string in a rule stays a string until it is changed. */
export function NumberField({ value, onChange, ...rest }: NumberFieldProps) {
  const given = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  const [typed, setTyped] = useState(given)
  // The person may type another form of the same number, such as 1.0.
  const isSame = typed !== '' && given !== '' ? Number(typed) === Number(given) : typed === given
  return (
    <TextField
      {...rest}
      type="number"
      step="any"
      inputMode="decimal"
      value={isSame ? typed : given}
      onChange={(event) => {
        const text = event.target.value
        setTyped(text)
        onChange(text === '' ? null : Number(text))
      }}
    />
  )
}

function Range({ value, error, onChange }: ValueFieldProps) {
  const texts = textsOf('segments')
  const [from, to] = Array.isArray(value) ? (value as unknown[]) : []
  const field = { isLabelHidden: true, error: undefined }
  return (
    <>
      <NumberField
        {...field}
        name="from"
        label={texts.from}
        value={from}
        error={error}
        onChange={(next) => onChange([next, to ?? null])}
      />
      <NumberField
        {...field}
        name="to"
        label={texts.to}
        value={to}
        onChange={(next) => onChange([from ?? null, next])}
      />
    </>
  )
}

function Text({ value, error, hint, onChange, suggestions = [] }: ValueFieldProps) {
  const id = useId()
  return (
    <>
      <TextField
        name="value"
        label={textsOf('segments').value}
        isLabelHidden
        value={textIn(value)}
        maxLength={4096}
        dir="auto"
        autoComplete="off"
        spellCheck={false}
        list={suggestions.length > 0 ? id : undefined}
        hint={hint}
        error={error}
        onChange={(event) => onChange(event.target.value)}
      />
      {suggestions.length > 0 && (
        <datalist id={id}>
          {suggestions.map((one) => (
            <option key={one.value} value={one.value} label={one.label} />
          ))}
        </datalist>
      )}
    </>
  )
}

function Texts({ value, error, hint = '', onChange }: ValueFieldProps) {
  const texts = textsOf('segments')
  const values = Array.isArray(value) ? value.map(String) : []
  const [typed, setTyped] = useState(() => values.join('\n'))
  const isSame = linesOf(typed).join('\n') === values.join('\n')
  const hasBreaks = values.some((one) => one.includes('\n'))
  return (
    <TextAreaField
      name="value"
      label={texts.value}
      isLabelHidden
      rows={3}
      dir="auto"
      spellCheck={false}
      value={isSame ? typed : values.join('\n')}
      readOnly={hasBreaks}
      hint={hasBreaks ? texts.lineBreaks : `${texts.listHint} ${hint}`.trim()}
      error={error}
      onChange={(event) => {
        setTyped(event.target.value)
        onChange(linesOf(event.target.value))
      }}
    />
  )
}

/** Values are compared exactly as they are sent, so only empty lines are removed. */
const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')

function Stages({ value, error, onChange }: ValueFieldProps) {
  const chosen = Array.isArray(value) ? value : []
  return (
    <fieldset className={styles['choices']} aria-label={textsOf('segments').value}>
      {STAGES.map((stage, at) => (
        <CheckboxField
          key={stage}
          name={stage}
          label={stage}
          checked={chosen.includes(stage)}
          error={at === 0 ? error : undefined}
          onChange={(event) =>
            onChange(STAGES.filter((one) => (one === stage ? event.target.checked : chosen.includes(one))))
          }
        />
      ))}
    </fieldset>
  )
}

const MINUTE_MS = 60_000

/** An instant in the reader's zone. It is sent in UTC. */
function Instant({ value, error, onChange }: ValueFieldProps) {
  const at = new Date(textIn(value))
  const local = Number.isNaN(at.getTime())
    ? ''
    : new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16)
  return (
    <TextField
      name="value"
      type="datetime-local"
      label={textsOf('segments').value}
      isLabelHidden
      value={local}
      error={error}
      onChange={(event) => onChange(event.target.value === '' ? '' : new Date(event.target.value).toISOString())}
    />
  )
}
