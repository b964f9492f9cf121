/**
 * Shared by the readers of rules and of steps: the list of faults, and functions that read keys from unchecked objects.
 */
import type { FieldType } from '../../events/facts.ts'
import { type Fault, type FaultCode, type FaultValues, faultOf } from '../../faults.ts'
import type { TopicRules } from '../../topics/topic.ts'
import { isClean, sanitiseText, trimText } from '../../events/text.ts'

const MAX_FAULTS = 20
const MAX_SHOWN = 64

/** The faults found so far. */
export interface Faults {
  faults: Fault[]
}

export interface Reading extends Faults {
  fields: ReadonlyMap<string, FieldType>
  /** Null: topics that a rule names are not checked. */
  topics: ReadonlyMap<string, TopicRules> | null
  /** The number of conditions so far. */
  conditions: number
  /** The segments that the rule names, in the order of the rule. */
  segments: { id: string; path: string }[]
}

export type RawObject = Record<string, unknown>

export function isObject(raw: unknown): raw is RawObject {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw)
}

/** Adds a fault. Faults beyond 20 are left out. */
export function fault<Code extends FaultCode>(
  { faults }: Faults,
  path: string,
  code: Code,
  ...values: FaultValues<Code>
): void {
  if (faults.length < MAX_FAULTS) faults.push(faultOf(path, code, ...values))
}

/** Adds faults that were found elsewhere. Faults beyond 20 are left out. */
export function addFaults({ faults }: Faults, more: readonly Fault[]): void {
  faults.push(...more.slice(0, MAX_FAULTS - faults.length))
}

/** The keys that a condition may omit. Null counts as omitted. */
const OPTIONAL = ['value', 'ignoreCase', 'currency', 'channel', 'topic', 'withinDays', 'where', 'property']

/** Returns the value of a key; undefined when it is omitted. */
export function wordOf(raw: RawObject, word: string): unknown {
  const value = Object.hasOwn(raw, word) ? raw[word] : undefined
  return value === null && OPTIONAL.includes(word) ? undefined : value
}

/** Adds a fault for each unknown key. */
export function checkWords(reading: Faults, raw: RawObject, path: string, known: readonly string[]): void {
  for (const word of Object.keys(raw)) {
    const isLeftOut = OPTIONAL.includes(word) && wordOf(raw, word) === undefined
    if (!known.includes(word) && !isLeftOut) fault(reading, `${path}.${show(word)}`, 'unknown_word')
  }
}

/** Returns a key that the caller sent, sanitised and shortened so that a message can repeat it. */
export const show = (word: string): string => sanitiseText(word.slice(0, MAX_SHOWN)).text

/** Reads a value that must be in a list. */
export function readOneOf<Word extends string>(
  reading: Faults,
  raw: unknown,
  path: string,
  words: readonly Word[],
): Word | undefined {
  const word = words.find((word) => word === raw)
  if (word === undefined) fault(reading, path, 'one_of', { choices: words.join(', ') })
  return word
}

/** Reads the name of an event, a tag or the like: 1 to `max` characters after trimming. */
export function readName(reading: Faults, raw: unknown, path: string, max: number): string | undefined {
  if (typeof raw !== 'string') {
    fault(reading, path, 'text')
    return undefined
  }
  const { length } = trimText(raw)
  if (length === 0 || length > max) fault(reading, path, 'characters', { min: 1, max })
  else if (!isClean(raw)) fault(reading, path, 'clean_text')
  else return raw
  return undefined
}
