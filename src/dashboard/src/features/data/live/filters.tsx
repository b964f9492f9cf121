import { type SyntheticEvent, useEffect, useRef } from 'react'
import { Button } from '../../../parts/action/button.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type Filter, OUTCOMES, readFilter } from './search.ts'
import styles from './live.module.css'

const NAMES = ['event', 'outcome', 'key', 'contactId'] as const

export function Filters({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const texts = textsOf('live')
  const form = useRef<HTMLFormElement>(null)
  // Follow the URL, which also changes when the browser goes back.
  useEffect(() => {
    for (const name of NAMES) {
      const control = form.current?.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement | null
      if (control !== null) control.value = filter[name] ?? ''
    }
  }, [filter])
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault()
    onChange(readFilter(Object.fromEntries(new FormData(event.currentTarget))))
  }
  const outcomes = OUTCOMES.map((value) => ({ value, label: texts.outcomes[value] }))
  return (
    <form ref={form} role="search" aria-label={texts.filters} className={styles['filters']} onSubmit={submit}>
      <TextField name="event" label={texts.event} maxLength={200} />
      <SelectField
        name="outcome"
        label={texts.outcome}
        options={[{ value: '', label: texts.any }, ...outcomes]}
        onChange={(event) => event.currentTarget.form?.requestSubmit()}
      />
      <TextField name="key" label={texts.key} placeholder={texts.keyHint} dir="ltr" maxLength={200} />
      <TextField name="contactId" label={texts.contact} dir="ltr" maxLength={200} />
      <div className="row">
        <Button type="submit">{texts.apply}</Button>
        {Object.keys(filter).length > 0 && (
          <Button kind="quiet" onClick={() => onChange({})}>
            {texts.clear}
          </Button>
        )}
      </div>
    </form>
  )
}
