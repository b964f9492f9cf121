import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parseDigits,
  parsePhoneNumberFromString,
  type PhoneNumber,
} from 'libphonenumber-js/max'
import { withoutInvisible } from '../events/text.ts'
import { toHalfWidth } from './rounded.ts'
import { splitExtension } from './split-extension.ts'

/** Phones are compared by `value`. */
export interface Phone {
  /** The digits; with an extension `+12125550100;ext=5`; or the text, when letters stand between the digits. */
  value: string
  /** True when the value is the digits of a possible E.164 number. Only such a phone is ever sent anything. */
  read: boolean
}

/**
 * Reads a phone in any format (decisions, "Identity"). `country` is that of the business (ISO 3166 alpha-2). With a
 * country, a number without `+` is read as a national number, unless it is valid as a number that starts with the
 * country's calling code. "Read" means that the number is possible, not that it is assigned. A phone that cannot be
 * read is stored as its digits. Returns undefined for a placeholder: fewer than 5 digits, one digit repeated, or
 * digits that are masked.
 */
export function readPhone(text: string, country: string | null): Phone | undefined {
  const plain = toPlainText(text)
  const digits = parseDigits(plain)
  if (digits.length < 5 || /^(\d)\1*$/.test(digits) || MASK.test(plain)) return undefined
  const home = knownCountry(country)
  const { number, extension } = splitExtension(plain)
  if (extension !== undefined) return withExtension(number, extension, home)
  if (/\d\D*\p{L}\D*\d/u.test(plain)) return { value: plain.toLowerCase(), read: false }
  const read = readNumber(plain, digits, home)
  const direct = readDirectDial(plain, read, home)
  if (direct) return direct
  if (read === undefined) return { value: digits, read: false }
  if (read.ext !== undefined) return { value: `${read.number};ext=${read.ext}`, read: false }
  return { value: read.number.slice(1), read: true }
}

/** `+1 207 *** 0512`, `0541234XXX`: many people share what is left. The `xx` of a name is not a mask: `(Maxx) 054-1234567`. */
const MASK = /[*•]{2}|(?<!\p{L})x{2,}(?!\p{L})/iu

/**
 * A phone that was read as a number: `491512345678.0`. With few digits before it, `.000` is a group of a number in which
 * dots stand for spaces.
 */
const DECIMAL = /^(\+?(?:\d+(?=[.,]0{1,2}$)|\d{7,}))[.,]0+$/

/**
 * Without invisible characters and an empty fraction, with ASCII for full-width forms and for the digits of other
 * scripts.
 */
function toPlainText(text: string): string {
  return toHalfWidth(withoutInvisible(text))
    .replace(/\p{Nd}/gu, (digit) => parseDigits(digit) || digit)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(DECIMAL, '$1')
}

function withExtension(text: string, extension: string, home: CountryCode | undefined): Phone {
  const digits = parseDigits(text)
  const read = readNumber(text, digits, home)
  return { value: `${read?.number ?? digits};ext=${extension}`, read: false }
}

/**
 * Reads `0170 1234567-12`: the last group is an extension when the number is valid only without it. In countries whose
 * numbers differ in length, the whole may be the number of that extension, and stays one number.
 */
function readDirectDial(
  text: string,
  whole: PhoneNumber | undefined,
  home: CountryCode | undefined,
): Phone | undefined {
  const [, number, extension] = /^(.*\d) ?[-‐‑‒–—] ?(\d{1,5})$/.exec(text) ?? []
  // Checked only here, because it takes longer than reading.
  if (number === undefined || whole?.isValid()) return undefined
  const read = readNumber(number, parseDigits(number), home)
  return read?.isValid() ? { value: `${read.number};ext=${extension}`, read: false } : undefined
}

function readNumber(text: string, digits: string, home: CountryCode | undefined): PhoneNumber | undefined {
  const number = text.includes('+')
    ? ifPossible(parse(text, home))
    : home && (readWithCallingCode(digits, home) ?? ifPossible(parse(text, home) ?? parse(digits, home)))
  return number ?? ifPossible(parse(`+${digits}`))
}

function knownCountry(country: string | null): CountryCode | undefined {
  const code = country?.toUpperCase() ?? ''
  return isSupportedCountry(code) ? code : undefined
}

/** Reads digits that only lack the `+` (`4917612345678`, in Germany). */
function readWithCallingCode(digits: string, country: CountryCode): PhoneNumber | undefined {
  if (!digits.startsWith(getCountryCallingCode(country))) return undefined
  const number = parse(`+${digits}`)
  return number?.isValid() === true ? number : undefined
}

/** Returns undefined when the text contains more than a number. */
function parse(text: string, country?: CountryCode): PhoneNumber | undefined {
  return parsePhoneNumberFromString(text, { extract: false, ...(country && { defaultCountry: country }) })
}

function ifPossible(number: PhoneNumber | undefined): PhoneNumber | undefined {
  return number?.isPossible() === true ? number : undefined
}
