/** Fields for the days, and for the length of the intervals. */
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { useBusiness } from '../../session/session.ts'
import { formatNumber } from '../../format.ts'
import { textsOf } from '../../texts/index.ts'
import { useChange } from './frame.tsx'
import { DEFAULT_DAYS, type Limits, type Range, intervalOf, intervalsOf, lastDayOf } from './range.ts'
import { PERIODS, type RangeSearch, readDate } from './search.ts'

interface RangeFieldsProps {
  search: RangeSearch
  range: Range
  /** Undefined: the page has no intervals. */
  limits?: Limits
}

const CUSTOM = 'custom'

export function RangeFields({ search, range, limits }: RangeFieldsProps) {
  const texts = textsOf('analytics')
  const { timezone } = useBusiness()
  const change = useChange<RangeSearch>()
  const last = lastDayOf(range, timezone)
  const isCustom = search.from !== undefined
  return (
    <>
      <SelectField
        name="days"
        label={texts.period}
        value={isCustom ? CUSTOM : String(search.days ?? DEFAULT_DAYS)}
        options={[
          ...PERIODS.map((days) => ({ value: String(days), label: texts.lastDays(formatNumber(days)) })),
          { value: CUSTOM, label: texts.custom },
        ]}
        onChange={({ target: { value } }) => {
          const days = PERIODS.find((one) => String(one) === value)
          if (days === undefined) change({ days, from: range.from, to: last })
          else change({ days: days === DEFAULT_DAYS ? undefined : days, from: undefined, to: undefined })
        }}
      />
      {isCustom && <DateField name="from" label={texts.from} value={range.from} />}
      {isCustom && <DateField name="to" label={texts.to} value={last} />}
      {limits !== undefined && (
        <SelectField
          name="interval"
          label={texts.interval}
          value={intervalOf(search.interval, range, limits)}
          options={intervalsOf(range, limits).map((value) => ({ value, label: texts.intervals[value] }))}
          onChange={({ target: { value } }) => change({ interval: value as RangeSearch['interval'] })}
        />
      )}
    </>
  )
}

/** A date may be incomplete, or of another century, while a person types it. */
function DateField({ name, label, value }: { name: 'from' | 'to'; label: string; value: string }) {
  const change = useChange<RangeSearch>()
  return (
    <TextField
      type="date"
      name={name}
      label={label}
      value={value}
      onChange={({ target }) => {
        const date = readDate(target.value)
        if (date !== undefined) change({ [name]: date })
      }}
    />
  )
}
