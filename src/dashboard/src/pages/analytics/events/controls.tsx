/** What is counted, and how it is split. */
import { CheckboxField, SelectField } from '../../../parts/field.tsx'
import { formatNumber } from '../../../format.ts'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import styles from '../analytics.module.css'
import { EventsField } from '../event-picker.tsx'
import { Controls, useChange } from '../frame.tsx'
import { OVER_TIME, type Range } from '../range.ts'
import { RangeFields } from '../range-fields.tsx'
import { BREAKDOWNS, type EventsSearch, MEASURES, TOPS } from '../search.ts'
import { TypedField } from '../typed-field.tsx'

const MAX_EVENTS = 10
const DEFAULT_TOP = 10

interface ControlsProps {
  search: EventsSearch
  range: Range
}

export function EventsControls({ search, range }: ControlsProps) {
  const texts = textsOf('analytics')
  const change = useChange<EventsSearch>()
  const { events = [], measure = 'count', property = '', compare = false } = search
  return (
    <>
      <EventsField events={events} most={MAX_EVENTS} onChange={(next) => change({ events: next })} />
      <Controls>
        <SelectField
          name="measure"
          label={texts.measure}
          value={measure}
          options={MEASURES.map((value) => ({ value, label: texts.measures[value] }))}
          onChange={({ target: { value } }) => {
            const chosen = MEASURES.find((one) => one === value)
            change({ measure: chosen === 'count' ? undefined : chosen, property: undefined })
          }}
        />
        {measure === 'sum' && (
          <TypedField
            name="property"
            label={texts.property}
            value={property}
            onChange={(next) => change({ property: next })}
          />
        )}
        <RangeFields search={search} range={range} limits={OVER_TIME} />
        <BreakdownFields search={search} />
        <div className={styles['check']}>
          <CheckboxField
            name="compare"
            label={texts.compare}
            checked={compare}
            onChange={({ target }) => change({ compare: target.checked || undefined })}
          />
        </div>
      </Controls>
    </>
  )
}

/** The values of fields and properties can be a person's: they are for those who may see contacts. */
function BreakdownFields({ search: { by, name = '', top = DEFAULT_TOP } }: { search: EventsSearch }) {
  const texts = textsOf('analytics')
  const change = useChange<EventsSearch>()
  const canSee = useCan('contacts:read')
  const isNamed = by === 'field' || by === 'property'
  const offered = BREAKDOWNS.filter((one) => canSee || one === by || (one !== 'field' && one !== 'property'))
  return (
    <>
      <SelectField
        name="by"
        label={texts.breakdown}
        value={by ?? ''}
        options={[
          { value: '', label: texts.noBreakdown },
          ...offered.map((value) => ({ value, label: texts.breakdowns[value] })),
        ]}
        onChange={({ target: { value } }) =>
          change({ by: BREAKDOWNS.find((one) => one === value), name: undefined, top: undefined })
        }
      />
      {isNamed && (
        <TypedField
          key={by}
          name="name"
          label={texts.breakdownNames[by]}
          value={name}
          onChange={(next) => change({ name: next })}
        />
      )}
      {by !== undefined && (
        <SelectField
          name="top"
          label={texts.top}
          value={String(top)}
          options={TOPS.map((one) => ({ value: String(one), label: texts.first(formatNumber(one)) }))}
          onChange={({ target: { value } }) => {
            const chosen = TOPS.find((one) => String(one) === value)
            change({ top: chosen === DEFAULT_TOP ? undefined : chosen })
          }}
        />
      )}
    </>
  )
}
