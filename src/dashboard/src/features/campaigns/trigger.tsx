/** What starts a campaign, in words. */
import { textsOf } from '../../texts/index.ts'
import { fill, value, word } from '../rules/sentence.ts'
import { Sentence } from '../rules/show/sentence.tsx'
import type { ListedCampaign } from './queries.ts'

interface TriggerProps {
  trigger: ListedCampaign['trigger']
  /** Undefined when the segment does not exist. */
  nameOfSegment: (id: string) => string | undefined
}

export function Trigger({ trigger, nameOfSegment }: TriggerProps) {
  const { triggers, deletedSegment } = textsOf('campaigns')
  if ('event' in trigger) {
    const text = trigger.where === undefined ? triggers.event : triggers.someEvents
    return <Sentence parts={fill(text, [[value(trigger.event)]])} />
  }
  if ('web' in trigger) {
    const text = triggers[trigger.web]
    return (
      <Sentence parts={trigger.where === undefined ? [word(text)] : fill(triggers.underConditions, [[word(text)]])} />
    )
  }
  const name = nameOfSegment(trigger.segment)
  const segment = name === undefined ? word(deletedSegment) : value(name)
  return <Sentence parts={fill(triggers[trigger.on], [[segment]])} />
}
