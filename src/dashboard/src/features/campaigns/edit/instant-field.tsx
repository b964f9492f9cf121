/** An instant in the reader's zone. The value is ISO 8601 in UTC, or nothing. */
import { TextField } from '../../../parts/form/field.tsx'

interface InstantFieldProps {
  name: string
  label: string
  hint?: string
  value: unknown
  error: string | undefined
  onChange: (value: string | undefined) => void
}

const MINUTE_MS = 60_000

export function InstantField({ value, onChange, ...rest }: InstantFieldProps) {
  const at = new Date(typeof value === 'string' ? value : '')
  const local = Number.isNaN(at.getTime())
    ? ''
    : new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16)
  return (
    <TextField
      {...rest}
      type="datetime-local"
      value={local}
      onChange={({ target }) => onChange(target.value === '' ? undefined : new Date(target.value).toISOString())}
    />
  )
}
