import { CHANNELS } from '../../events/facts.ts'
import { moveFault } from '../../faults.ts'
import { topicFaults } from '../../topics/topic-faults.ts'
import { MAX_TOPIC_KEY } from '../../topics/topic.ts'
import { checkCurrency } from './read-event-condition.ts'
import { checkOperation } from './read-operation.ts'
import { type RawObject, type Reading, addFaults, readName, readOneOf, wordOf } from './reading.ts'
import { ATTRIBUTES, ATTRIBUTE_NAMES, type Attribute } from '../grammar/attributes.ts'

export function checkAttribute(reading: Reading, raw: RawObject, path: string): void {
  const attribute = readOneOf(reading, raw['attribute'], `${path}.attribute`, ATTRIBUTE_NAMES)
  if (attribute === undefined) return
  const words = ['attribute', ...checkExtra(reading, raw, path, attribute)]
  checkOperation(reading, raw, path, words, { type: ATTRIBUTES[attribute], takesDecimals: attribute === 'revenue' })
}

/** Checks the extra key of an attribute, and returns it. */
function checkExtra(reading: Reading, raw: RawObject, path: string, attribute: Attribute): string[] {
  if (attribute === 'revenue') {
    checkCurrency(reading, raw, path)
    return ['currency']
  }
  if (attribute !== 'subscribed') return []
  const channel = readOneOf(reading, wordOf(raw, 'channel'), `${path}.channel`, CHANNELS)
  const sent = wordOf(raw, 'topic')
  if (sent === undefined) return ['channel']
  const topic = readName(reading, sent, `${path}.topic`, MAX_TOPIC_KEY)
  const [first] = topic && channel && reading.topics ? topicFaults(reading.topics, [{ topic, channel }]) : []
  if (first !== undefined) addFaults(reading, [moveFault(first, `${path}.topic`)])
  return ['channel', 'topic']
}
