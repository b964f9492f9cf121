import type { FieldType, TraitValue } from './facts.ts'
import { type Fault, faultOf } from '../faults.ts'
import { readIso } from './read-iso.ts'
import { sanitiseText } from './text.ts'

const KEY = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/
const MAX_KEY = 64
export const MAX_TRAIT = 4096
/** The maximum number of traits of one call: no business has more fields. */
const MAX_TRAITS = 500
/** Without these limits, a body with many keys would produce warnings or faults many times its size. */
const MAX_WARNINGS = 500
const MAX_FAULTS = 20

/**
 * Reads the traits of a call (decisions, "Traits"). Keys in the wrong format and strings that are too long are skipped
 * with a warning; of the others, the first 500 are used. A value other than a string, finite number, boolean or null is
 * a fault. At most 500 skipped keys get a warning of their own; one more warning counts the rest. Returns at most 20
 * faults.
 */
export function readTraits(raw: Record<string, unknown>): {
  traits: Record<string, TraitValue>
  warnings: string[]
  faults: Fault[]
} {
  const traits: Record<string, TraitValue> = {}
  const warnings: string[] = []
  const faults: Fault[] = []
  let taken = 0
  let left = 0
  let skipped = 0
  for (const key of Object.keys(raw)) {
    const value = raw[key]
    if (!isTraitValue(value)) {
      if (faults.length < MAX_FAULTS) faults.push(faultOf(showPath(key), 'trait'))
      continue
    }
    const reason = reasonToSkip(key, value)
    if (reason !== undefined) {
      if (skipped++ < MAX_WARNINGS) warnings.push(`${showPath(key)} was skipped: ${reason}`)
    } else if (taken === MAX_TRAITS) {
      left++
    } else {
      taken++
      const { text, changed } = typeof value === 'string' ? sanitiseText(value) : { text: value, changed: false }
      if (changed) warnings.push(`${showPath(key)} held characters that cannot be stored; they were replaced`)
      traits[key] = text
    }
  }
  if (skipped > MAX_WARNINGS) warnings.push(`${count(skipped - MAX_WARNINGS, ' more')} skipped for the same reasons`)
  if (left > 0) warnings.push(`${count(left)} skipped: a call has at most ${MAX_TRAITS}`)
  return { traits, warnings, faults }
}

function reasonToSkip(key: string, value: TraitValue): string | undefined {
  if (key.length > MAX_KEY || !KEY.test(key)) return `a trait key is snake_case and at most ${MAX_KEY} characters`
  const isTooLong = typeof value === 'string' && value.length > MAX_TRAIT
  return isTooLong ? `a text is at most ${MAX_TRAIT} characters` : undefined
}

const count = (traits: number, more = '') => `${traits}${more} ${traits === 1 ? 'trait was' : 'traits were'}`

function isTraitValue(value: unknown): value is TraitValue {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** Returns a trait key, sanitised and shortened so that a message can repeat it. */
function showPath(key: string): string {
  return `traits.${sanitiseText(key.slice(0, MAX_KEY)).text}`
}

/** Returns the type of the field that this first value creates (contract, "Custom field"). */
export function inferFieldType(value: Exclude<TraitValue, null>): FieldType {
  if (typeof value === 'number') return 'Number'
  if (typeof value === 'boolean') return 'Boolean'
  return isDateShaped(value) ? 'Date' : 'Text'
}

/** Returns whether a field of this type accepts the value; null clears any field. */
export function fits(type: FieldType, value: TraitValue): boolean {
  if (value === null) return true
  if (type === 'Text') return typeof value === 'string'
  return inferFieldType(value) === type
}

/** Returns true for `YYYY-MM-DD`, and for ISO 8601 with a time, if the date exists. */
export function isDateShaped(text: string): boolean {
  return readIso(text) !== undefined
}

/** The stored value of a trait: its time (epoch ms), and its JSON text, or null when it was cleared. */
export type TraitEntry = readonly [at: number, json: string | null]

/**
 * Returns whether `a` replaces `b`. The newer entry wins. At equal times, a value beats a clearing, and the greater of
 * two values wins, by the bytes of their JSON. This is a strict total order, so that the order of arrival never
 * matters.
 */
export function wins(a: TraitEntry, b: TraitEntry): boolean {
  if (a[0] !== b[0]) return a[0] > b[0]
  if (a[1] === null || b[1] === null) return a[1] !== null && b[1] === null
  return hasGreaterBytes(a[1], b[1])
}

const encoder = new TextEncoder()

/**
 * Returns whether `a` is greater by its UTF-8 bytes. (JavaScript's `>` compares UTF-16 units, and puts U+FFFD above an
 * emoji.)
 */
function hasGreaterBytes(a: string, b: string): boolean {
  const [left, right] = [encoder.encode(a), encoder.encode(b)]
  const at = left.findIndex((byte, index) => byte !== right[index])
  // Without a difference, `a` equals `b` or is a prefix of it.
  return at !== -1 && (left[at] ?? 0) > (right[at] ?? -1)
}
