/** Fields for the steps, their order, and the time that they may take. */
import { formatNumber } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import { useCan } from '../../../session/session.ts'
import { EventPicker } from '../event-picker.tsx'
import { Controls, useChange } from '../frame.tsx'
import { issuesIn } from '../place-issues.ts'
import type { Range } from '../range.ts'
import { RangeFields } from '../range-fields.tsx'
import { type FunnelSearch, ORDERS, WINDOWS } from '../search.ts'
import { WhereFields } from '../where-fields.tsx'
import styles from './funnel.module.css'
import { type Step, stepsOf, toSearch } from './steps.ts'

export const MIN_STEPS = 2
const MAX_STEPS = 10
const DEFAULT_WINDOW = 30

interface ControlsProps {
  search: FunnelSearch
  range: Range
  /** Error of the current query. */
  error: Error | null
}

export function FunnelControls({ search, range, error }: ControlsProps) {
  const texts = textsOf('analytics')
  const change = useChange<FunnelSearch>()
  const { order = 'in_order', window = DEFAULT_WINDOW } = search
  return (
    <>
      <Steps search={search} error={error} />
      <Controls>
        <RangeFields search={search} range={range} />
        <SelectField
          name="order"
          label={texts.order}
          value={order}
          options={ORDERS.map((value) => ({ value, label: texts.orders[value] }))}
          onChange={({ target: { value } }) => {
            const chosen = ORDERS.find((one) => one === value)
            change({ order: chosen === 'in_order' ? undefined : chosen, dropped: undefined })
          }}
        />
        <SelectField
          name="window"
          label={texts.window}
          value={String(window)}
          options={WINDOWS.map((days) => ({ value: String(days), label: texts.days(formatNumber(days)) }))}
          onChange={({ target: { value } }) => {
            const chosen = WINDOWS.find((one) => String(one) === value)
            change({ window: chosen === DEFAULT_WINDOW ? undefined : chosen, dropped: undefined })
          }}
        />
      </Controls>
    </>
  )
}

function Steps({ search, error }: { search: FunnelSearch; error: Error | null }) {
  const texts = textsOf('analytics')
  const change = useChange<FunnelSearch>()
  // Properties can be personal data, so they require permission to see contacts.
  const canSee = useCan('contacts:read')
  const steps = stepsOf(search)
  const setSteps = (next: Step[]) => change({ steps: toSearch(next), dropped: undefined })
  return (
    <div className="stack">
      {steps.length > 0 && (
        <ol className={styles['steps']} aria-label={texts.steps}>
          {steps.map(({ event, where }, at) => (
            <li key={at} className={styles['step']}>
              <div className={styles['event']}>
                <span className="muted numeric">{formatNumber(at + 1)}</span>
                <EventPicker
                  label={texts.replaceStep(event)}
                  onChoose={(next) => setSteps(steps.with(at, { event: next, where: [] }))}
                >
                  <bdi className="foreign">{event}</bdi>
                </EventPicker>
                {at > 0 && (
                  <Button
                    kind="quiet"
                    icon="up"
                    aria-label={texts.moveUp(event)}
                    onClick={() => setSteps(steps.toSpliced(at, 1).toSpliced(at - 1, 0, { event, where }))}
                  />
                )}
                <Button
                  kind="quiet"
                  icon="close"
                  aria-label={texts.without(event)}
                  onClick={() => setSteps(steps.toSpliced(at, 1))}
                />
              </div>
              {canSee && (
                <WhereFields
                  where={where}
                  issues={issuesIn(error, `steps[${at}].`)}
                  onChange={(next) => setSteps(steps.with(at, { event, where: next }))}
                />
              )}
            </li>
          ))}
        </ol>
      )}
      {steps.length < MAX_STEPS && (
        <div>
          <EventPicker
            label={texts.addStep}
            icon="plus"
            onChoose={(event) => setSteps([...steps, { event, where: [] }])}
          >
            {texts.addStep}
          </EventPicker>
        </div>
      )}
    </div>
  )
}
