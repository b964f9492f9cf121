/** Reads the keys of a definition from values of any type. Null counts as absent. */
import { trimText } from '../events/text.ts'
import { MESSAGE_CHANNELS, type MessageChannel } from '../messages/message-channel.ts'
import { type Faults, type RawObject, fault, isObject, readOneOf, show } from '../segments/reading/reading.ts'

export function take(raw: RawObject, word: string): unknown {
  return Object.hasOwn(raw, word) ? (raw[word] ?? undefined) : undefined
}

/** Returns the object if it has only keys in `known`. */
export function takeObject(
  reading: Faults,
  raw: unknown,
  path: string,
  known: readonly string[],
): RawObject | undefined {
  if (!isObject(raw)) {
    fault(reading, path, 'object_of', { fields: known.join(', ') })
    return undefined
  }
  for (const word of Object.keys(raw)) {
    const isUnknown = !known.includes(word) && take(raw, word) !== undefined
    if (isUnknown) fault(reading, `${path}.${show(word)}`, 'unknown_word')
  }
  return raw
}

export const readChannel = (reading: Faults, raw: RawObject, path: string): MessageChannel | undefined =>
  readOneOf(reading, take(raw, 'channel'), `${path}.channel`, MESSAGE_CHANNELS)

export const TIME = /^([01]\d|2[0-3]):[0-5]\d$/

/** A local time. */
export function readTime(reading: Faults, raw: unknown, path: string): string | undefined {
  const text = typeof raw === 'string' ? trimText(raw) : ''
  if (TIME.test(text)) return text
  fault(reading, path, 'time_of_day')
  return undefined
}

/** A percentage in steps of 0.01. */
export function readPercent(
  reading: Faults,
  raw: unknown,
  path: string,
  { min, max }: { min: number; max: number },
): number | undefined {
  if (typeof raw === 'number' && raw >= min && raw <= max && Number.isInteger(hundredths(raw))) return raw
  fault(reading, path, 'percent', { min, max })
  return undefined
}

/** A whole number when the percentage has at most 2 decimals: 0.29 times 100 is 28.999999999999996. */
export function hundredths(percent: number): number {
  const rounded = Math.round(percent * 100)
  return Math.abs(percent * 100 - rounded) < 1e-9 ? rounded : percent * 100
}
