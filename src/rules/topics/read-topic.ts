/** Reads a topic that a caller sends. */
import { CHANNELS, type Channel } from '../events/facts.ts'
import { trimText } from '../events/text.ts'
import type { Fault } from '../faults.ts'
import { readLanguage } from '../messages/choose-language.ts'
import { take, takeObject } from '../campaigns/read-words.ts'
import { readTopicKey } from '../campaigns/read-topic-key.ts'
import { readId } from '../read-id.ts'
import { type Faults, type RawObject, fault, isObject, readName, readOneOf, show } from '../segments/reading/reading.ts'
import {
  MAX_TOPIC_DESCRIPTION,
  MAX_TOPIC_LANGUAGES,
  MAX_TOPIC_NAME,
  MAX_TOPIC_POSITION,
  TOPIC_DEFAULTS,
  TOPIC_STATUSES,
  TOPIC_VISIBILITIES,
  type Topic,
  type TopicName,
} from './topic.ts'

export type TopicChange = Partial<Topic>

/** Reads a new topic. At most 20 faults. */
export function readNewTopic(body: RawObject): { topic: Topic } | { faults: Fault[] } {
  const read = readTopicChange(body)
  const reading: Faults = { faults: 'faults' in read ? read.faults : [] }
  for (const word of ['key', 'channels', 'default', 'names'] as const)
    if (take(body, word) === undefined) fault(reading, word, 'required')
  if ('faults' in read || reading.faults.length > 0) return { faults: reading.faults }
  const { key = '', channels = [], default: byDefault = 'unsubscribed', names = {}, ...others } = read.change
  const [first = ''] = Object.keys(names)
  const { defaultLanguage = first, visibility = 'public', position = 0, confirmationTemplate = null } = others
  const topic = {
    key,
    channels,
    default: byDefault,
    visibility,
    names,
    defaultLanguage,
    position,
    confirmationTemplate,
  }
  return checked({ ...topic, status: 'active' })
}

/** Reads the fields that were sent. Null counts as absent, but for `confirmationTemplate`. */
export function readTopicChange(body: RawObject): { change: TopicChange } | { faults: Fault[] } {
  const reading: Faults = { faults: [] }
  const change: TopicChange = {}
  const read = <Name extends keyof Topic>(name: Name, reader: (sent: unknown) => Topic[Name] | undefined): void => {
    const sent = take(body, name)
    const value = sent === undefined ? undefined : reader(sent)
    if (value !== undefined) change[name] = value
  }
  read('key', (sent) => readTopicKey(reading, sent, 'key'))
  read('channels', (sent) => readChannels(reading, sent))
  read('default', (sent) => readOneOf(reading, sent, 'default', TOPIC_DEFAULTS))
  read('visibility', (sent) => readOneOf(reading, sent, 'visibility', TOPIC_VISIBILITIES))
  read('names', (sent) => readNames(reading, sent))
  read('defaultLanguage', (sent) => readTag(reading, sent))
  read('position', (sent) => readPosition(reading, sent))
  read('status', (sent) => readOneOf(reading, sent, 'status', TOPIC_STATUSES))
  read('confirmationTemplate', (sent) => readTemplate(reading, sent))
  if (body['confirmationTemplate'] === null) change.confirmationTemplate = null
  return reading.faults.length > 0 ? { faults: reading.faults } : { change }
}

/** Checks what fields of a whole topic say together. */
export function checked<Whole extends Pick<Topic, 'names' | 'defaultLanguage'>>(
  topic: Whole,
): { topic: Whole } | { faults: Fault[] } {
  if (topic.names[topic.defaultLanguage] !== undefined) return { topic }
  const reading: Faults = { faults: [] }
  fault(reading, 'defaultLanguage', 'topic_language')
  return { faults: reading.faults }
}

function readChannels(reading: Faults, sent: unknown): Channel[] | undefined {
  const known = Array.isArray(sent) ? CHANNELS.filter((channel) => sent.includes(channel)) : []
  if (Array.isArray(sent) && known.length > 0 && sent.length === known.length) return known
  fault(reading, 'channels', 'topic_channels', { choices: CHANNELS.join(', ') })
  return undefined
}

function readNames(reading: Faults, sent: unknown): Record<string, TopicName> | undefined {
  const entries = isObject(sent) ? Object.entries(sent) : []
  if (entries.length === 0 || entries.length > MAX_TOPIC_LANGUAGES) {
    fault(reading, 'names', 'languages', { max: MAX_TOPIC_LANGUAGES })
    return undefined
  }
  const names: Record<string, TopicName> = {}
  for (const [tag, raw] of entries) {
    const path = `names.${show(tag)}`
    const language = readLanguage(tag)
    if (language === null || names[language] !== undefined) fault(reading, path, 'language_name')
    const name = readTopicName(reading, raw, path)
    if (language !== null && name !== undefined) names[language] = name
  }
  return names
}

function readTopicName(reading: Faults, raw: unknown, path: string): TopicName | undefined {
  const sent = takeObject(reading, raw, path, ['name', 'description'])
  if (sent === undefined) return undefined
  const name = readName(reading, take(sent, 'name'), `${path}.name`, MAX_TOPIC_NAME)
  const about = take(sent, 'description')
  if (about === undefined || about === '') return name === undefined ? undefined : { name: trimText(name) }
  const description = readName(reading, about, `${path}.description`, MAX_TOPIC_DESCRIPTION)
  if (name === undefined || description === undefined) return undefined
  return { name: trimText(name), description: trimText(description) }
}

function readTag(reading: Faults, sent: unknown): string | undefined {
  const language = typeof sent === 'string' ? readLanguage(sent) : null
  if (language === null) fault(reading, 'defaultLanguage', 'topic_language')
  return language ?? undefined
}

function readPosition(reading: Faults, sent: unknown): number | undefined {
  const isWhole = typeof sent === 'number' && Number.isInteger(sent) && sent >= 0 && sent <= MAX_TOPIC_POSITION
  if (isWhole) return sent
  fault(reading, 'position', 'whole_number', { min: 0, max: MAX_TOPIC_POSITION })
  return undefined
}

function readTemplate(reading: Faults, sent: unknown): string | undefined {
  const id = typeof sent === 'string' ? readId(sent) : null
  if (id === null) fault(reading, 'confirmationTemplate', 'template_id')
  return id ?? undefined
}
