/** The steps, their order, and how long they may take. */
import { formatNumber } from '../../../format.ts'
import { Button } from '../../../parts/button.tsx'
import { SelectField } from '../../../parts/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import { EventPicker } from '../event-picker.tsx'
import { Controls, useChange } from '../frame.tsx'
import type { Range } from '../range.ts'
import { RangeFields } from '../range-fields.tsx'
import { type FunnelSearch, ORDERS, WINDOWS } from '../search.ts'
import styles from './funnel.module.css'

export const MIN_STEPS = 2
const MAX_STEPS = 10
const DEFAULT_WINDOW = 30

interface ControlsProps {
  search: FunnelSearch
  range: Range
}

export function FunnelControls({ search, range }: ControlsProps) {
  const texts = textsOf('analytics')
  const change = useChange<FunnelSearch>()
  const { order = 'in_order', window = DEFAULT_WINDOW } = search
  return (
    <>
      <Steps search={search} />
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

function Steps({ search: { steps = [] } }: { search: FunnelSearch }) {
  const texts = textsOf('analytics')
  const change = useChange<FunnelSearch>()
  const setSteps = (next: string[]) => change({ steps: next.length === 0 ? undefined : next, dropped: undefined })
  return (
    <div className="stack">
      {steps.length > 0 && (
        <ol className={styles['steps']} aria-label={texts.steps}>
          {steps.map((event, at) => (
            <li key={at} className={styles['step']}>
              <span className="muted numeric">{formatNumber(at + 1)}</span>
              <EventPicker label={texts.replaceStep(event)} onChoose={(next) => setSteps(steps.with(at, next))}>
                <bdi className="foreign">{event}</bdi>
              </EventPicker>
              {at > 0 && (
                <Button
                  kind="quiet"
                  icon="up"
                  aria-label={texts.moveUp(event)}
                  onClick={() => setSteps(steps.toSpliced(at, 1).toSpliced(at - 1, 0, event))}
                />
              )}
              <Button
                kind="quiet"
                icon="close"
                aria-label={texts.without(event)}
                onClick={() => setSteps(steps.toSpliced(at, 1))}
              />
            </li>
          ))}
        </ol>
      )}
      {steps.length < MAX_STEPS && (
        <div>
          <EventPicker label={texts.addStep} icon="plus" onChoose={(event) => setSteps([...steps, event])}>
            {texts.addStep}
          </EventPicker>
        </div>
      )}
    </div>
  )
}
