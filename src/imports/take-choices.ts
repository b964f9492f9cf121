/** Extracts the opt-ins of a row, which are sent separately from its event. */
import { CHANNELS } from '../rules/events/facts.ts'
import { type Fault, faultOf } from '../rules/faults.ts'
import { isRecord } from '../rules/is-record.ts'
import { type MappedEvent, placeFault } from './map-row.ts'

/** One item for `POST /api/subscriptions/batch`. The service checks it. */
export type MappedChoice = Record<string, unknown>

const METHOD = 'import'

/** An opt-in is `true`, `false`, or its instant. Yes and no get the time of the event. */
export function takeChoices(mapped: MappedEvent): { event: MappedEvent; choices: MappedChoice[] } | { fault: Fault } {
  const { optIn, topic, ...rest } = mapped
  // Whole rows may have a field of this name.
  const topics = isRecord(topic) ? topic : {}
  const event = isRecord(topic) || topic === undefined ? rest : { ...rest, topic }
  if (optIn !== undefined && optIn !== null && !isRecord(optIn)) return { fault: faultOf('', 'opt_in_object') }
  const { method = METHOD, ...sent } = optIn ?? {}
  const choices: MappedChoice[] = []
  for (const [name, value] of Object.entries(topics)) {
    const [key = '', channel = ''] = name.split('.')
    if (value === undefined || value === null) continue
    if (typeof value === 'boolean' && event['occurredAt'] === undefined)
      return { fault: placeFault(faultOf('', 'opt_in_date'), `topic.${name}`) }
    const [subscribed, at] = typeof value === 'boolean' ? [value, event['occurredAt']] : [true, value]
    choices.push({ identity: event['identity'], topics: { [key]: { [channel]: subscribed } }, method, at })
  }
  for (const [channel, value] of Object.entries(sent)) {
    if (value === undefined || value === null) continue
    if (!CHANNELS.some((one) => one === channel))
      return { fault: placeFault(faultOf('', 'opt_in_channel'), `optIn.${channel}`) }
    const isWord = typeof value === 'boolean'
    if (isWord && event['occurredAt'] === undefined)
      return { fault: placeFault(faultOf('', 'opt_in_date'), `optIn.${channel}`) }
    const [subscribed, at] = isWord ? [value, event['occurredAt']] : [true, value]
    choices.push({ identity: event['identity'], [channel]: subscribed, method, at })
  }
  return { event, choices }
}
