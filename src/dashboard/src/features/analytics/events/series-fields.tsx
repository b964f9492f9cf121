/** Fields for what one series counts, and for its events. */
import { SelectField } from '../../../parts/form/field.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import type { PlacedIssue } from '../../rules/place-issues.ts'
import styles from '../analytics.module.css'
import { EventsField } from '../event-picker.tsx'
import { MEASURES, type SeriesSearch } from '../search.ts'
import { TypedField } from '../typed-field.tsx'
import { WhereFields } from '../where-fields.tsx'

const MAX_EVENTS = 10

interface SeriesFieldsProps {
  series: SeriesSearch
  issues: readonly PlacedIssue[]
  onChange: (change: SeriesSearch) => void
}

export function SeriesFields({ series, issues, onChange }: SeriesFieldsProps) {
  const texts = textsOf('analytics')
  const { currency: own } = useBusiness()
  // Properties can be personal data, so they require permission to see contacts.
  const canSee = useCan('contacts:read')
  const { events = [], measure = 'count', property = '', currency = '', where = [] } = series
  return (
    <>
      <EventsField events={events} most={MAX_EVENTS} onChange={(next) => onChange({ events: next })} />
      <div className={styles['controls']}>
        <SelectField
          name="measure"
          label={texts.measure}
          value={measure}
          options={MEASURES.map((value) => ({ value, label: texts.measures[value] }))}
          onChange={({ target: { value } }) => {
            const chosen = MEASURES.find((one) => one === value)
            onChange({ measure: chosen === 'count' ? undefined : chosen, property: undefined })
          }}
        />
        {measure === 'sum' && (
          <TypedField
            name="property"
            label={texts.property}
            value={property}
            onChange={(next) => onChange({ property: next })}
          />
        )}
        {(measure === 'revenue' || (measure === 'sum' && property === 'value')) && (
          <TypedField
            name="currency"
            label={texts.currency}
            value={currency}
            placeholder={own}
            onChange={(next) => onChange({ currency: next?.toUpperCase() })}
          />
        )}
      </div>
      {canSee && (
        <WhereFields
          where={where}
          issues={issues}
          onChange={(next) => onChange({ where: next.length === 0 ? undefined : next })}
        />
      )}
    </>
  )
}
