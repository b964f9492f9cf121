import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parseDigits,
  parsePhoneNumberFromString,
  type PhoneNumber,
} from 'libphonenumber-js/max'
import { toHalfWidth } from './rounded.ts'

/** Phones are compared by `digits`. `read` is true when the digits are a possible E.164 number. */
export interface Phone {
  digits: string
  read: boolean
}

/**
 * Reads a phone in any format (decisions, "Identity"). `country` is that of the business (ISO 3166 alpha-2). With a
 * country, a number without `+` is read as a national number, unless it is valid as a number that starts with the
 * country's calling code. "Read" means that the number is possible, not that it is assigned. A phone that cannot be
 * read is stored as its digits. Returns undefined for a placeholder: fewer than 5 digits, or one digit repeated.
 */
export function readPhone(text: string, country: string | null): Phone | undefined {
  const plain = toHalfWidth(text)
  const digits = parseDigits(plain)
  if (digits.length < 5 || /^(\d)\1*$/.test(digits)) return undefined
  const home = knownCountry(country)
  const number = plain.includes('+')
    ? ifPossible(parse(plain, home))
    : home && (readWithCallingCode(plain, digits, home) ?? ifPossible(parse(plain, home) ?? parse(digits, home)))
  const read = number ?? ifPossible(parse(`+${digits}`))
  return read === undefined ? { digits, read: false } : { digits: read.number.slice(1), read: true }
}

function knownCountry(country: string | null): CountryCode | undefined {
  const code = country?.toUpperCase() ?? ''
  return isSupportedCountry(code) ? code : undefined
}

/** Reads digits that only lack the `+` (`4917612345678`, in Germany). */
function readWithCallingCode(text: string, digits: string, country: CountryCode): PhoneNumber | undefined {
  if (!digits.startsWith(getCountryCallingCode(country))) return undefined
  const extension = parse(text, country)?.ext ?? ''
  const number = parse(`+${digits.slice(0, digits.length - extension.length)}`)
  return number?.isValid() === true ? number : undefined
}

/** Returns undefined when the text contains more than a number. An extension is left out. */
function parse(text: string, country?: CountryCode): PhoneNumber | undefined {
  return parsePhoneNumberFromString(text, { extract: false, ...(country && { defaultCountry: country }) })
}

function ifPossible(number: PhoneNumber | undefined): PhoneNumber | undefined {
  return number?.isPossible() === true ? number : undefined
}
