/** The fields of a step that changes the contact: tags and custom fields. */
import { useState } from 'react'
import { Button } from '../../../parts/action/button.tsx'
import { SelectField, TextAreaField, TextField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './campaign-editor.module.css'
import { type Json, isObject } from './definition.ts'
import { JsonField, NumberField } from './parts.tsx'
import type { StepFieldProps } from './editing.ts'

const readLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** One tag on each line, because a tag may contain a comma. */
export function TagsField({ step: _, path: _path, value, onChange, ...rest }: StepFieldProps) {
  const tags: unknown[] = Array.isArray(value) ? value : []
  const [typed, setTyped] = useState(() => tags.join('\n'))
  // The person may be about to begin another line.
  const isSame = JSON.stringify(readLines(typed)) === JSON.stringify(tags)
  return (
    <TextAreaField
      {...rest}
      hint={textsOf('campaign-editor').tagsHint}
      rows={2}
      dir="auto"
      spellCheck={false}
      value={isSame ? typed : tags.join('\n')}
      onChange={({ target }) => {
        setTyped(target.value)
        onChange(readLines(target.value))
      }}
    />
  )
}

type Row = [key: string, value: unknown]

export function TraitsField({ name, label, value = {}, error, onChange }: StepFieldProps) {
  return isObject(value) ? (
    <Traits name={name} label={label} value={value} error={error} onChange={onChange} />
  ) : (
    <JsonField name={name} label={label} value={value} error={error} onChange={onChange} />
  )
}

interface TraitsProps extends Pick<StepFieldProps, 'name' | 'label' | 'error' | 'onChange'> {
  value: Json
}

function Traits({ name, label, value, error, onChange }: TraitsProps) {
  const texts = textsOf('campaign-editor')
  const [kept, keep] = useState<readonly Row[]>(() => Object.entries(value))
  // While a person types a name, it may be the same as that of another row.
  const isSame = JSON.stringify(Object.fromEntries(kept)) === JSON.stringify(value)
  const rows = isSame ? kept : Object.entries(value)
  const setRows = (next: readonly Row[]) => {
    keep(next)
    onChange(Object.fromEntries(next))
  }
  const isRepeated = (at: number) => rows.slice(0, at).some(([key]) => key === rows[at]?.[0])
  return (
    <fieldset className={`stack ${styles['wide']}`} aria-label={label}>
      {rows.map((row, at) => (
        <Trait
          key={at}
          row={row}
          at={at}
          path={name}
          error={isRepeated(at) ? texts.traitTwice : at === 0 ? error : undefined}
          onChange={(next) => setRows(rows.with(at, next))}
          onRemove={() => setRows(rows.toSpliced(at, 1))}
        />
      ))}
      <div>
        <Button kind="quiet" size="small" icon="plus" onClick={() => setRows([...rows, ['', '']])}>
          {texts.addTrait}
        </Button>
      </div>
    </fieldset>
  )
}

const KINDS = ['text', 'number', 'true', 'false', 'clear'] as const
type Kind = (typeof KINDS)[number]

const NEW: Record<Kind, unknown> = { text: '', number: 0, true: true, false: false, clear: null }

/** Returns undefined for JSON that a field cannot have. */
function kindOf(value: unknown): Kind | undefined {
  if (value === null) return 'clear'
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (typeof value === 'number') return 'number'
  return typeof value === 'string' ? 'text' : undefined
}

interface TraitProps {
  row: Row
  at: number
  path: string
  error: string | undefined
  onChange: (row: Row) => void
  onRemove: () => void
}

function Trait({ row: [key, value], at, path, error, onChange, onRemove }: TraitProps) {
  const texts = textsOf('campaign-editor')
  const read = kindOf(value)
  const [chosen, choose] = useState(read)
  // An incomplete number is stored as text.
  const kind = chosen === 'number' && typeof value === 'string' ? 'number' : read
  const common = { name: `${path}-${at}-value`, label: texts.traitValue, error: undefined }
  return (
    <div className={styles['fields']} role="group" aria-label={texts.trait(String(at + 1))}>
      <TextField
        name={`${path}-${at}`}
        label={texts.customField}
        value={key}
        error={error}
        maxLength={64}
        dir="auto"
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => onChange([target.value, value])}
      />
      <SelectField
        name={`${path}-${at}-kind`}
        label={texts.traitKind}
        value={kind ?? 'other'}
        options={[
          ...KINDS.map((one) => ({ value: one as string, label: texts.traitKinds[one] })),
          ...(kind === undefined ? [{ value: 'other', label: 'JSON' }] : []),
        ]}
        onChange={({ target }) => {
          choose(target.value as Kind)
          onChange([key, NEW[target.value as Kind]])
        }}
      />
      {kind === 'text' && (
        <TextField
          {...common}
          value={String(value)}
          dir="auto"
          autoComplete="off"
          onChange={({ target }) => onChange([key, target.value])}
        />
      )}
      {kind === 'number' && <NumberField {...common} value={value} onChange={(next) => onChange([key, next])} />}
      {kind === undefined && <JsonField {...common} value={value} onChange={(next) => onChange([key, next])} />}
      <Button kind="quiet" icon="close" aria-label={texts.removeTrait(String(at + 1))} onClick={onRemove} />
    </div>
  )
}
