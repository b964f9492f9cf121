/** Chooses the name of an event: one that has occurred, or any other. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Button } from '../../parts/action/button.tsx'
import type { IconName } from '../../parts/value/icon-shapes.ts'
import { Picker } from '../../parts/overlay/picker.tsx'
import { useLate } from '../../parts/action/use-late.ts'
import { useBusiness } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import { fieldsQuery } from '../rules/queries.ts'
import styles from './analytics.module.css'

interface EventPickerProps {
  label: string
  children: ReactNode
  icon?: IconName
  /** Events that the list omits. */
  chosen?: readonly string[]
  onChoose: (event: string) => void
}

const PAUSE_MS = 150

export function EventPicker({ chosen = [], onChoose, ...rest }: EventPickerProps) {
  const texts = textsOf('analytics')
  const { id: businessId } = useBusiness()
  const [wanted, setWanted] = useState('')
  const typed = wanted.trim()
  const asked = useLate(typed, PAUSE_MS)
  const found = useQuery(fieldsQuery(businessId, asked))
  const names = eventsOf(found.data).filter((name) => isMatch(name, typed) && !chosen.includes(name))
  const isNew = typed !== '' && !names.includes(typed) && !chosen.includes(typed)
  const optionOf = (name: string) => ({ key: name, label: name })
  return (
    <Picker
      {...rest}
      placeholder={texts.findEvent}
      wanted={wanted}
      onSearch={setWanted}
      groups={[
        { title: texts.seen, options: names.map(optionOf) },
        { title: texts.useName, options: isNew ? [optionOf(typed)] : [] },
      ]}
      isStale={asked !== typed || found.isPlaceholderData}
      isLoading={found.isPending}
      onChoose={({ key }) => onChoose(key)}
    />
  )
}

type Fields = { groups: { group: string; fields: { condition: Record<string, unknown> }[] }[] }

function eventsOf(found: Fields | undefined): string[] {
  const fields = (found?.groups ?? []).filter(({ group }) => group === 'Events').flatMap((one) => one.fields)
  const names = fields.map(({ condition: { event } }) => event).filter((event) => typeof event === 'string')
  return [...new Set(names)]
}

const isMatch = (name: string, wanted: string): boolean => name.toLocaleLowerCase().includes(wanted.toLocaleLowerCase())

interface EventsFieldProps {
  events: readonly string[]
  most: number
  onChange: (events: string[] | undefined) => void
}

/** Several events, in any order. None means all events. */
export function EventsField({ events, most, onChange }: EventsFieldProps) {
  const texts = textsOf('analytics')
  return (
    <div className={styles['events']} role="group" aria-label={texts.tabs.events}>
      {events.map((event) => (
        <Button
          key={event}
          size="small"
          icon="close"
          aria-label={texts.without(event)}
          onClick={() => {
            const left = events.filter((one) => one !== event)
            onChange(left.length === 0 ? undefined : left)
          }}
        >
          <bdi className="foreign">{event}</bdi>
        </Button>
      ))}
      {events.length < most && (
        <EventPicker
          label={texts.addEvent}
          icon="plus"
          chosen={events}
          onChoose={(event) => onChange([...events, event])}
        >
          {events.length === 0 ? texts.allEvents : texts.addEvent}
        </EventPicker>
      )}
    </div>
  )
}
