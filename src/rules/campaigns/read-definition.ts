import type { Fault } from '../faults.ts'
import { type Faults, type RawObject, fault, readOneOf } from '../segments/reading/reading.ts'
import {
  CAP_ACTIONS,
  type Cap,
  DEFAULT_TRACKING,
  type Definition,
  MAX_AT_MOST,
  MAX_CAPS,
  MAX_CAP_DAYS,
  MAX_HOLD_OUT,
  QUIET_HOURS_OF_BUSINESS,
  type QuietHours,
  type Tracking,
} from './definition.ts'
import { type StepContext, readSteps } from './read-steps.ts'
import { readTopicKey } from './read-topic-key.ts'
import { readSenders } from './read-senders.ts'
import { readChannel, readPercent, readTime, take, takeObject } from './read-words.ts'

/**
 * Reads `steps`, `quietHours`, `caps`, `holdOut`, `tracking`, `topic` and `senders` of a campaign that was sent; other fields are ignored.
 * A draft may contain what publishing refuses: see `checkDefinition`. A definition that was read can be sent again,
 * with the same result. At most 20 faults.
 */
export function readDefinition(
  body: RawObject,
  context: StepContext,
): { definition: Definition } | { faults: Fault[] } {
  const reading: Faults = { faults: [] }
  const isDefault = take(body, 'quietHours') === QUIET_HOURS_OF_BUSINESS
  const quietHours = isDefault ? undefined : readQuietHours(reading, body, 'quietHours')
  const sentTopic = take(body, 'topic')
  const topic = sentTopic === undefined ? undefined : readTopicKey(reading, sentTopic, 'topic')
  const senders = readSenders(reading, take(body, 'senders'), 'senders')
  const definition: Definition = {
    steps: readSteps(reading, take(body, 'steps'), 'steps', context),
    ...(quietHours !== undefined && { quietHours }),
    caps: readCaps(reading, take(body, 'caps'), 'caps'),
    holdOut: readPercent(reading, take(body, 'holdOut') ?? 0, 'holdOut', { min: 0, max: MAX_HOLD_OUT }) ?? 0,
    tracking: readTracking(reading, take(body, 'tracking'), 'tracking'),
    ...(topic !== undefined && { topic }),
    ...(senders !== undefined && { senders }),
  }
  return reading.faults.length > 0 ? { faults: reading.faults } : { definition }
}

/** Reads the quiet hours in the field `path` of a body. Null: none. Undefined: absent, or with a fault. */
export function readQuietHours(reading: Faults, body: RawObject, path: string): QuietHours | null | undefined {
  if (!Object.hasOwn(body, path) || body[path] === undefined) return undefined
  if (body[path] === null) return null
  const raw = takeObject(reading, body[path], path, ['from', 'to'])
  if (raw === undefined) return undefined
  const from = readTime(reading, take(raw, 'from'), `${path}.from`)
  const to = readTime(reading, take(raw, 'to'), `${path}.to`)
  if (from === undefined || to === undefined) return undefined
  return from === to ? null : { from, to }
}

/** Returns the caps without faulty ones. Absent: none. */
export function readCaps(reading: Faults, raw: unknown, path: string): Cap[] {
  if (raw === undefined) return []
  if (Array.isArray(raw) && raw.length <= MAX_CAPS)
    return raw.flatMap((item: unknown, index) => readCap(reading, item, `${path}[${index}]`) ?? [])
  fault(reading, path, 'caps', { max: MAX_CAPS })
  return []
}

function readCap(reading: Faults, sent: unknown, path: string): Cap | undefined {
  const raw = takeObject(reading, sent, path, ['channel', 'atMost', 'days', 'whenReached'])
  if (raw === undefined) return undefined
  const channel = readChannel(reading, raw, path)
  const [atMost, days] = [take(raw, 'atMost'), take(raw, 'days')]
  const isCount = typeof atMost === 'number' && Number.isInteger(atMost) && atMost >= 1 && atMost <= MAX_AT_MOST
  if (!isCount) fault(reading, `${path}.atMost`, 'whole_number', { min: 1, max: MAX_AT_MOST })
  const areDays = typeof days === 'number' && days > 0 && days <= MAX_CAP_DAYS
  if (!areDays) fault(reading, `${path}.days`, 'cap_days', { max: MAX_CAP_DAYS })
  const sentAction = take(raw, 'whenReached') ?? 'wait'
  const whenReached = readOneOf(reading, sentAction, `${path}.whenReached`, CAP_ACTIONS)
  return channel && isCount && areDays && whenReached ? { channel, atMost, days, whenReached } : undefined
}

/** Absent keys have their defaults. */
function readTracking(reading: Faults, sent: unknown, path: string): Tracking {
  const raw = sent === undefined ? {} : (takeObject(reading, sent, path, ['opens', 'clicks']) ?? {})
  const read = (word: keyof Tracking): boolean => {
    const value = take(raw, word) ?? DEFAULT_TRACKING[word]
    if (typeof value === 'boolean') return value
    fault(reading, `${path}.${word}`, 'boolean')
    return false
  }
  return { opens: read('opens'), clicks: read('clicks') }
}
