/** The field of each column, and the values that are the same in every row. */
import { useState } from 'react'
import type { EventFieldName } from '../../../../../rules/imports/event-fields.ts'
import { DECIMAL_SIGNS } from '../../../../../rules/imports/read-decimal.ts'
import { ApiError } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { NAMED_FIELDS, OFFERED_FIELDS, type Target, guessMapping, mappingOf } from './guess-mapping.ts'
import styles from './imports.module.css'
import type { ImportFile, ImportRules } from './run-import.ts'

/** Fields that are often the same in all rows of a file. */
const FIXED = ['event', 'type', 'currency', 'tags'] as const satisfies EventFieldName[]

export function MappingForm({ source, onMapped }: { source: ImportFile; onMapped: (rules: ImportRules) => void }) {
  const texts = textsOf('imports')
  const { name: businessName } = useBusiness()
  const { columns, samples, format } = source
  const [targets, setTargets] = useState<Record<string, Target>>(() => guessMapping(columns))
  const form = useForm((values) => {
    const fixed = Object.fromEntries(FIXED.map((field) => [field, values[`fixed.${field}`] ?? '']))
    const mapping = mappingOf(targets, fixed)
    const has = (group: string) => mapping.some(({ field }) => field === group || field.startsWith(`${group}.`))
    if (format === 'csv' && !has('event')) throw new ApiError('incomplete', texts.needsEvent)
    if (format === 'csv' && !has('identity')) throw new ApiError('incomplete', texts.needsIdentity)
    const decimal = DECIMAL_SIGNS.find((one) => one === values['decimal'])
    onMapped({
      mapping,
      timezone: values['timezone'] ?? 'UTC',
      name: values['name'] ?? '',
      ...(decimal && { decimal }),
      withoutTime: values['withoutTime'] === 'skip' ? 'skip' : 'fail',
    })
    return Promise.resolve()
  })
  /** With their place in a row. Columns without a name are left out. */
  const named = [...columns.entries()].flatMap(([index, column]) => (column === '' ? [] : [[column, index] as const]))
  /** A field without a text of its own is shown by its name. */
  const labels: Partial<Record<string, string>> = texts.fields
  const options = [
    { value: '', label: texts.leaveOut },
    ...[...OFFERED_FIELDS, ...NAMED_FIELDS].map((value) => ({ value, label: labels[value] ?? value })),
  ]
  return (
    <form {...form.props} className="stack">
      {format === 'ndjson' && <p className="muted">{texts.ndjson}</p>}
      {columns.length > 0 && (
        <fieldset className="stack">
          <legend className={styles['legend']}>
            <h3>{texts.columns}</h3>
          </legend>
          <div className={styles['columns']}>
            {named.map(([column, index]) => (
              <SelectField
                key={column}
                name={`column.${column}`}
                label={column}
                hint={<bdi className="foreign">{samples.map((cells) => cells[index] ?? '').join(' · ')}</bdi>}
                value={targets[column] ?? ''}
                options={options}
                onChange={(event) => setTargets({ ...targets, [column]: event.target.value as Target })}
              />
            ))}
          </div>
        </fieldset>
      )}
      <fieldset className="stack">
        <legend className={styles['legend']}>
          <h3>{texts.sameForAll}</h3>
        </legend>
        <div className={styles['columns']}>
          {FIXED.map((field) => (
            <TextField key={field} name={`fixed.${field}`} label={texts.fields[field]} maxLength={200} dir="auto" />
          ))}
        </div>
      </fieldset>
      <div className={styles['two']}>
        <TextField
          name="timezone"
          label={texts.timezone}
          hint={texts.timezoneHint}
          defaultValue={Intl.DateTimeFormat().resolvedOptions().timeZone}
          required
          dir="ltr"
        />
        <TextField name="name" label={texts.name} hint={texts.nameHint} maxLength={200} />
        {format === 'csv' && (
          <>
            <SelectField
              name="decimal"
              label={texts.decimal}
              hint={texts.decimalHint}
              options={['', ...DECIMAL_SIGNS].map((value) => ({
                value,
                label: texts.decimals[value as keyof typeof texts.decimals],
              }))}
            />
            <SelectField
              name="withoutTime"
              label={texts.withoutTime}
              options={(['fail', 'skip'] as const).map((value) => ({ value, label: texts.withoutTimes[value] }))}
            />
          </>
        )}
      </div>
      <ErrorBox error={form.error} />
      <div className="actions">
        <Button kind="primary" type="submit" isPending={form.isPending}>
          {texts.checkFile(businessName)}
        </Button>
      </div>
    </form>
  )
}
