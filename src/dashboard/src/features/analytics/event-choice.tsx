/** Chooses one event, or any. */
import { Button } from '../../parts/action/button.tsx'
import { textsOf } from '../../texts/index.ts'
import styles from './analytics.module.css'
import { EventPicker } from './event-picker.tsx'

interface EventChoiceProps {
  label: string
  event: string | undefined
  /** Label of the choice without an event. Default: any event. */
  none?: string
  onChange: (event: string | undefined) => void
}

export function EventChoice({ label, event, none, onChange }: EventChoiceProps) {
  const texts = textsOf('analytics')
  return (
    <div role="group" aria-label={label}>
      <div className={styles['label']}>{label}</div>
      <div className={styles['events']}>
        <EventPicker label={label} onChoose={onChange}>
          {event === undefined ? (none ?? texts.anyEvent) : <bdi className="foreign">{event}</bdi>}
        </EventPicker>
        {event !== undefined && (
          <Button kind="quiet" icon="close" aria-label={texts.without(event)} onClick={() => onChange(undefined)} />
        )}
      </div>
    </div>
  )
}
