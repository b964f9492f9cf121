/** Fields that several parts of the editor use. */
import { useState } from 'react'
import type { Issue } from '../../../client.ts'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { Icon } from '../../../parts/value/icon.tsx'
import { textsOf } from '../../../texts/index.ts'
import { JsonView } from '../../../parts/form/json-view.tsx'
import { IssueText } from '../../../parts/form/issue-text.tsx'
import styles from './campaign-editor.module.css'
import { UNITS, type Unit, readAmount, writeAmount } from './duration.ts'
import { EVENTS } from './editing.ts'

interface FieldProps {
  name: string
  label: string
  hint?: string
  error: string | undefined
}

interface TextProps extends FieldProps {
  value: unknown
  onChange: (text: string) => void
}

/** A name that is typed freely, with suggestions. */
export function EventField({ value, onChange, ...rest }: TextProps) {
  return (
    <TextField
      {...rest}
      value={typeof value === 'string' ? value : ''}
      list={EVENTS}
      maxLength={64}
      dir="auto"
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

const OTHER = 'other'

/** A number and its unit, or an ISO 8601 duration. */
export function DurationField({ value, onChange, label, error, ...rest }: TextProps) {
  const texts = textsOf('campaign-editor')
  const read = readAmount(value)
  const text = typeof value === 'string' ? value : ''
  return (
    <div className={styles['pair']}>
      {read === undefined ? (
        <TextField
          {...rest}
          label={label}
          value={text}
          error={error}
          hint={texts.isoHint}
          dir="ltr"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <TextField
          {...rest}
          label={label}
          value={read.amount}
          error={error}
          inputMode="decimal"
          dir="ltr"
          autoComplete="off"
          onChange={(event) => onChange(writeAmount(event.target.value.trim(), read.unit))}
        />
      )}
      <SelectField
        name={`${rest.name}-unit`}
        label={texts.unit}
        value={read?.unit ?? OTHER}
        options={[
          ...UNITS.map((unit) => ({ value: unit as string, label: texts.units[unit] })),
          { value: OTHER, label: texts.isoDuration },
        ]}
        onChange={({ target }) =>
          onChange(target.value === OTHER ? 'P1DT12H' : writeAmount(read?.amount ?? '1', target.value as Unit))
        }
      />
    </div>
  )
}

interface NumberProps extends FieldProps {
  value: unknown
  onChange: (value: unknown) => void
}

/** The server rejects values that are not numbers. */
export function NumberField({ value, onChange, ...rest }: NumberProps) {
  const given = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  const [typed, setTyped] = useState(given)
  // The person may type another form of the same number, such as 1.0.
  const isSame = typed !== '' && given !== '' ? Number(typed) === Number(given) : typed === given
  return (
    <TextField
      {...rest}
      inputMode="decimal"
      dir="ltr"
      autoComplete="off"
      value={isSame ? typed : given}
      onChange={({ target }) => {
        setTyped(target.value)
        const number = Number(target.value)
        onChange(target.value.trim() === '' || Number.isNaN(number) ? target.value : number)
      }}
    />
  )
}

interface JsonProps extends FieldProps {
  value: unknown
  rows?: number
  onChange: (value: unknown) => void
}

/** JSON that has no form. While it cannot be parsed, the value does not change. */
export const JsonField = ({ rows = 5, ...rest }: JsonProps) => (
  <div className={styles['json']}>
    <JsonView {...rest} rows={rows} invalid={textsOf('campaigns').jsonInvalid} canCopy={false} />
  </div>
)

/** Issues that no field shows. */
export function Issues({ issues }: { issues: readonly Issue[] }) {
  if (issues.length === 0) return null
  return (
    <div role="alert">
      <ul className={styles['issues']}>
        {issues.map(({ path, message }) => (
          <li key={path + message}>
            <Icon name="warn" size={14} /> <IssueText path={path} message={message} />
          </li>
        ))}
      </ul>
    </div>
  )
}
