import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parseDigits,
  parsePhoneNumberFromString,
  type PhoneNumber,
} from 'libphonenumber-js/max'

/** `digits` is what phones are compared by; `read` is true when they are those of a possible E.164 number. */
export interface Phone {
  digits: string
  read: boolean
}

/**
 * Reads a phone in any format (decisions, "Identity"). `country` is the business's (ISO 3166 alpha-2): with it a number
 * without `+` is read as a national one, but for one that is valid with its calling code in front. "Read" means that the number
 * is possible, not that it is given out. A phone that cannot be read is its digits. Undefined for a placeholder: fewer than
 * 5 digits, or one digit repeated.
 */
export function readPhone(text: string, country: string | null): Phone | undefined {
  const plain = narrow(text)
  const digits = parseDigits(plain)
  if (digits.length < 5 || /^(\d)\1*$/.test(digits)) return undefined
  const home = knownCountry(country)
  const number = plain.includes('+')
    ? possible(parse(plain, home))
    : home && (readWithCallingCode(plain, digits, home) ?? possible(parse(plain, home) ?? parse(digits, home)))
  const read = number ?? possible(parse(`+${digits}`))
  return read === undefined ? { digits, read: false } : { digits: read.number.slice(1), read: true }
}

/** Full-width forms, and the space that goes with them, as ASCII. */
function narrow(text: string): string {
  return text
    .replace(/[\uFF01-\uFF5E]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replaceAll('\u3000', ' ')
}

function knownCountry(country: string | null): CountryCode | undefined {
  const code = country?.toUpperCase() ?? ''
  return isSupportedCountry(code) ? code : undefined
}

/** The number that the digits are when only the `+` is missing (`4917612345678`, in Germany). */
function readWithCallingCode(text: string, digits: string, country: CountryCode): PhoneNumber | undefined {
  if (!digits.startsWith(getCountryCallingCode(country))) return undefined
  const extension = parse(text, country)?.ext ?? ''
  const number = parse(`+${digits.slice(0, digits.length - extension.length)}`)
  return number?.isValid() === true ? number : undefined
}

/** Undefined when the text is more than a number (an extension is left out). */
function parse(text: string, country?: CountryCode): PhoneNumber | undefined {
  return parsePhoneNumberFromString(text, { extract: false, ...(country && { defaultCountry: country }) })
}

function possible(number: PhoneNumber | undefined): PhoneNumber | undefined {
  return number?.isPossible() === true ? number : undefined
}
