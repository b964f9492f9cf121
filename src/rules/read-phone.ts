import { isSupportedCountry, parseDigits, parsePhoneNumberFromString } from 'libphonenumber-js'

/** `digits` is what phones are compared by; `read` is true when they are those of a possible E.164 number. */
export interface Phone {
  digits: string
  read: boolean
}

/**
 * Reads a phone in any format (decisions, "Identity"): with the business's country (ISO 3166 alpha-2), else with `+` before
 * its digits. "Read" means that the number is possible, not that it is given out. A phone that cannot be read is its digits.
 * Undefined for a placeholder: fewer than 5 digits, or one digit repeated.
 */
export function readPhone(text: string, country: string | null): Phone | undefined {
  const digits = parseDigits(text)
  if (digits.length < 5 || /^(\d)\1*$/.test(digits)) return undefined
  const international = /[+＋]/.test(text)
  const read =
    possible(text, country) ?? (international ? undefined : possible(digits, country)) ?? possible(`+${digits}`, null)
  return read === undefined ? { digits, read: false } : { digits: read, read: true }
}

/** The E.164 digits of `text`, when it is nothing but a possible number (an extension is left out). */
function possible(text: string, country: string | null): string | undefined {
  const code = country?.toUpperCase()
  const number = parsePhoneNumberFromString(text, {
    extract: false,
    ...(code !== undefined && isSupportedCountry(code) && { defaultCountry: code }),
  })
  return number?.isPossible() === true ? number.number.slice(1) : undefined
}
