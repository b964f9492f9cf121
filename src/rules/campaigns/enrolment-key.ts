/** What a campaign enrols once for: the contact, or each order, cart or booking that its trigger events name. */
import { trimText } from '../events/text.ts'
import { namesOf, valueAt } from '../segments/reading/property-path.ts'

/** `property`: a path into the properties of the trigger event. */
export type EnrolPer = 'contact' | { property: string }

/** Length of a key, in UTF-16 code units. */
export const MAX_KEY = 200

/** Returns the path of the key. Null: the campaign enrols once for each contact. */
export const keyPathOf = (enrolPer: EnrolPer): string | null => (enrolPer === 'contact' ? null : enrolPer.property)

/** A number and the text of its shortest decimal form are one key. Null for any other value. */
export function readKey(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? decimalOf(value) : null
  if (typeof value !== 'string') return null
  const key = trimText(value)
  return key.length >= 1 && key.length <= MAX_KEY ? key : null
}

/** Reads the key from the parsed properties of an event. */
export type KeyReader = (properties: unknown) => string | null

export function compileKey(path: string): KeyReader {
  const names = namesOf(path)
  return (properties) => readKey(valueAt(properties, names))
}

/** Without an exponent. */
function decimalOf(value: number): string {
  const [short = '', exponent] = String(value).split('e')
  if (exponent === undefined) return short
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(short) ?? []
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  const key = point > 0 ? digits.padEnd(point, '0') : `0.${'0'.repeat(-point)}${digits}`
  return key.length <= MAX_KEY - 1 ? sign + key : String(value)
}
