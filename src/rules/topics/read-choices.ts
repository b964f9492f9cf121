/** Reads choices of topics: `{ "newsletter": { "email": true, "sms": false } }`. */
import { CHANNELS } from '../events/facts.ts'
import { type Fault, faultOf } from '../faults.ts'
import { isRecord } from '../is-record.ts'
import type { TopicChoice } from '../item.ts'
import { show } from '../segments/reading/reading.ts'

export interface SentChoices {
  choices: TopicChoice[]
  /** Keys of the topics whose opt-ins by email have to be confirmed. */
  pending: string[]
}

/** More than a business can have: what is beyond is refused before anything of it is looked at. */
const MAX_SENT = 1000

/** `mayWait`: whether `pending` is allowed. Null counts as absent. */
export function readChoices(
  sent: unknown,
  { path = 'topics', mayWait }: { path?: string; mayWait: boolean },
): SentChoices | { faults: Fault[] } {
  const entries = isRecord(sent) ? Object.entries(sent) : []
  if (entries.length > MAX_SENT) return { faults: [faultOf(path, 'topic_choices')] }
  const read: SentChoices = { choices: [], pending: [] }
  const faults: Fault[] = []
  for (const [topic, raw] of entries) {
    const at = `${path}.${show(topic)}`
    const made = isRecord(raw) ? Object.entries(raw).filter(([, value]) => value !== null) : []
    if (made.length === 0) faults.push(faultOf(at, 'topic_choices'))
    for (const [name, value] of made) {
      const channel = CHANNELS.find((one) => one === name)
      if (channel === undefined) faults.push(faultOf(`${at}.${show(name)}`, 'one_of', { choices: CHANNELS.join(', ') }))
      else if (typeof value === 'boolean') read.choices.push({ topic, channel, subscribed: value })
      else if (mayWait && channel === 'email' && value === 'pending') read.pending.push(topic)
      else faults.push(faultOf(`${at}.${channel}`, mayWait ? 'topic_pending' : 'boolean'))
    }
  }
  if (faults.length > 0) return { faults: faults.slice(0, 20) }
  return entries.length > 0 ? read : { faults: [faultOf(path, 'topic_choices')] }
}

/** The fields that choices name, for the audit log. */
export const choiceFields = (choices: readonly TopicChoice[]): string[] =>
  choices.map(({ topic, channel }) => `topic ${topic} ${channel}`)
