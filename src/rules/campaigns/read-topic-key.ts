import { trimText } from '../events/text.ts'
import { type Faults, fault } from '../segments/reading/reading.ts'
import { MAX_TOPIC_KEY, TOPIC_KEY } from '../topics/topic.ts'

/** Reads the key of a topic. Undefined: it has a fault. Whether there is such a topic is checked before publishing. */
export function readTopicKey(reading: Faults, sent: unknown, path: string): string | undefined {
  const key = typeof sent === 'string' ? trimText(sent) : ''
  if (key.length <= MAX_TOPIC_KEY && TOPIC_KEY.test(key)) return key
  fault(reading, path, 'topic_key', { max: MAX_TOPIC_KEY })
  return undefined
}
