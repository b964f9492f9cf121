/**
 * Parses the settings of a business from text. Each function throws SettingError with the rule that the text breaks.
 */
import { isSupportedCountry } from 'libphonenumber-js/min'
import { type Fault, type FaultCode, type FaultValues, faultOf } from '../rules/faults.ts'
import { isClean } from '../rules/events/text.ts'
import { PAGE_IDENTIFY, type PageIdentify } from '../rules/business-state.ts'
import { zoneNamed } from '../rules/time/zones.ts'
import { BOTS, type Bots } from './businesses.ts'

/** `message` continues a sentence that begins with the name of the setting: "must be true or false". */
export class SettingError<Code extends FaultCode = FaultCode> extends Error {
  /** Its path is empty: only the caller knows the field. */
  readonly fault: Fault

  constructor(code: Code, ...values: FaultValues<Code>) {
    const fault = faultOf('', code, ...values)
    super(fault.message)
    this.fault = fault
  }
}

export function readName(text: string): string {
  const name = text.trim()
  if (name === '' || name.length > 200) throw new SettingError('characters', { min: 1, max: 200 })
  if (!isClean(name)) throw new SettingError('clean_text')
  return name
}

/** Returns a whole number from 1 to `max`. */
export function readWhole(text: string, max: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= max) return number
  throw new SettingError('whole_number_not', { min: 1, max, sent: text })
}

/** In requests per minute. */
export const readRateLimit = (text: string): number => readWhole(text, 999_999_999)

/** Accepts three letters, as in ISO 4217. Events may use any code of 1 to 8 characters (contract, "Limits"). */
export function readCurrency(text: string): string {
  if (/^[a-z]{3}$/i.test(text)) return text.toUpperCase()
  throw new SettingError('currency', { sent: text })
}

/**
 * Accepts ISO 3166 alpha-2 codes, but only of countries whose phone numbers can be parsed, since the setting serves to
 * parse them.
 */
export function readCountry(text: string): string {
  const country = text.toUpperCase()
  if (isSupportedCountry(country)) return country
  throw new SettingError('country', { sent: text })
}

export function readTimezone(text: string): string {
  const zone = zoneNamed(text)
  if (zone !== undefined) return zone
  throw new SettingError('timezone', { sent: text })
}

export const MAX_ORIGINS = 100

/** Returns the allowed browser origins. The single word `any` stands for the empty list. */
export function readOrigins(texts: string[]): string[] {
  if (texts.length === 1 && texts[0] === 'any') return []
  if (texts.length > MAX_ORIGINS) throw new SettingError('origins_up_to', { max: MAX_ORIGINS })
  return texts.map((text) => {
    const origin = originOf(text)
    if (origin !== null) return origin
    throw new SettingError('origin', { sent: text })
  })
}

/** Returns the origin as browsers send it; null for other text. */
export function originOf(text: string): string | null {
  const origin = URL.canParse(text) ? new URL(text).origin : 'null'
  return /^https?:/.test(origin) ? origin : null
}

export const readActive = (text: string): boolean => oneOf(['true', 'false'], text) === 'true'
export const readPageIdentify = (text: string): PageIdentify => oneOf(PAGE_IDENTIFY, text)
export const readBots = (text: string): Bots => oneOf(BOTS, text)

function oneOf<Value extends string>(values: readonly Value[], text: string): Value {
  const found = values.find((value) => value === text)
  if (found !== undefined) return found
  throw new SettingError('one_of_not', { choices: values.join(', '), sent: text })
}
