/** Fields for what is counted, and for the breakdown. */
import { Button } from '../../../parts/action/button.tsx'
import { CheckboxField, SelectField } from '../../../parts/form/field.tsx'
import { formatNumber } from '../../../format.ts'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import styles from '../analytics.module.css'
import { Controls, useChange } from '../frame.tsx'
import { issuesIn } from '../place-issues.ts'
import { OVER_TIME, type Range } from '../range.ts'
import { RangeFields } from '../range-fields.tsx'
import { BREAKDOWNS, type EventsSearch, type SeriesSearch, TOPS } from '../search.ts'
import { TypedField } from '../typed-field.tsx'
import { SeriesFields } from './series-fields.tsx'

const DEFAULT_TOP = 10

interface ControlsProps {
  search: EventsSearch
  range: Range
  /** Error of the current query. */
  error: Error | null
}

export function EventsControls({ search, range, error }: ControlsProps) {
  const texts = textsOf('analytics')
  const change = useChange<EventsSearch>()
  const { second, compare = false } = search
  return (
    <>
      <div
        className="stack"
        role="group"
        aria-label={second === undefined ? texts.tabs.events : texts.seriesNamed('a')}
      >
        {second !== undefined && <h3 className="small">{texts.seriesNamed('a')}</h3>}
        <SeriesFields series={search} issues={issuesIn(error, 'series[0].')} onChange={change} />
      </div>
      {second === undefined ? (
        <div>
          <Button kind="quiet" size="small" icon="plus" onClick={() => change({ second: {} })}>
            {texts.addSeries}
          </Button>
        </div>
      ) : (
        <SecondSeries series={second} formula={search.formula ?? ''} error={error} />
      )}
      <Controls>
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

const FORMULAS = ['a / b', '100 * a / b', 'a - b', 'a + b', '(a - b) / b']

interface SecondSeriesProps {
  series: SeriesSearch
  formula: string
  error: Error | null
}

function SecondSeries({ series, formula, error }: SecondSeriesProps) {
  const texts = textsOf('analytics')
  const change = useChange<EventsSearch>()
  return (
    <>
      <div className="stack" role="group" aria-label={texts.seriesNamed('b')}>
        <div className={styles['heading']}>
          <h3 className="small">{texts.seriesNamed('b')}</h3>
          <Button
            kind="quiet"
            size="small"
            icon="close"
            aria-label={texts.dropSeries}
            onClick={() => change({ second: undefined, formula: undefined })}
          />
        </div>
        <SeriesFields
          series={series}
          issues={issuesIn(error, 'series[1].')}
          onChange={(next) => change({ second: { ...series, ...next } })}
        />
      </div>
      <Controls>
        <TypedField
          name="formula"
          label={texts.formula}
          value={formula}
          hint={texts.formulaHint}
          error={issuesIn(error, '').find(({ part }) => part === 'formula')?.message}
          suggestions={FORMULAS}
          onChange={(next) => change({ formula: next })}
        />
      </Controls>
    </>
  )
}

/** Values of fields and properties can be personal data, so they require permission to see contacts. */
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
