/** A field for each parameter of the statement. */
import { TextField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type Parameter, fieldKindOf } from './parameters.ts'
import styles from './sql.module.css'

interface ParameterFieldsProps {
  parameters: readonly Parameter[]
  values: Record<string, string>
  onChange: (values: Record<string, string>) => void
  onRun: () => void
}

export function ParameterFields({ parameters, values, onChange, onRun }: ParameterFieldsProps) {
  if (parameters.length === 0) return null
  return (
    <fieldset
      className={styles['parameters']}
      onKeyDown={(event) => {
        if (event.key === 'Enter') onRun()
      }}
    >
      <legend className="visually-hidden">{textsOf('sql').parameters}</legend>
      {parameters.map(({ name, type }) => {
        const kind = fieldKindOf(type)
        return (
          <TextField
            key={name}
            name={name}
            label={`${name} (${type})`}
            type={kind === 'date' ? 'date' : 'text'}
            inputMode={kind === 'number' ? 'numeric' : undefined}
            maxLength={4000}
            autoComplete="off"
            spellCheck={false}
            value={values[name] ?? ''}
            onChange={(event) => onChange({ ...values, [name]: event.target.value })}
          />
        )
      })}
    </fieldset>
  )
}
