/** Fields for the models, the grouping of the rows, the counted event, and the currency. */
import { SelectField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import { EventChoice } from '../event-choice.tsx'
import { Controls, useChange } from '../frame.tsx'
import type { Range } from '../range.ts'
import { RangeFields } from '../range-fields.tsx'
import { type AttributionSearch, KEYS, MODELS } from './search.ts'

interface ControlsProps {
  search: AttributionSearch
  range: Range
  currency: string
  used: readonly string[]
}

export function AttributionControls({ search, range, currency, used }: ControlsProps) {
  const texts = textsOf('attribution')
  const change = useChange<AttributionSearch>()
  const { model = 'last', beside, by = 'channel', event } = search
  return (
    <Controls>
      <SelectField
        name="model"
        label={texts.model}
        value={model}
        options={MODELS.map((value) => ({ value, label: texts.models[value] }))}
        onChange={({ target: { value } }) => {
          const chosen = MODELS.find((one) => one === value)
          change({ model: chosen === 'last' ? undefined : chosen, ...(chosen === beside && { beside: undefined }) })
        }}
      />
      <SelectField
        name="beside"
        label={texts.compareWith}
        value={beside ?? ''}
        options={[
          { value: '', label: texts.noComparison },
          ...MODELS.filter((one) => one !== model).map((value) => ({ value, label: texts.models[value] })),
        ]}
        onChange={({ target: { value } }) => change({ beside: MODELS.find((one) => one === value) })}
      />
      <SelectField
        name="by"
        label={texts.by}
        value={by}
        options={KEYS.map((value) => ({ value, label: texts.keys[value] }))}
        onChange={({ target: { value } }) => {
          const chosen = KEYS.find((one) => one === value)
          change({ by: chosen === 'channel' ? undefined : chosen })
        }}
      />
      <EventChoice
        label={texts.conversion}
        event={event}
        none={texts.orders}
        onChange={(next) => change({ event: next })}
      />
      <SelectField
        name="currency"
        label={textsOf('analytics').currency}
        value={currency}
        options={[...new Set([currency, ...used])].toSorted().map((value) => ({ value, label: value }))}
        onChange={({ target: { value } }) => change({ currency: value })}
      />
      <RangeFields search={search} range={range} />
    </Controls>
  )
}
