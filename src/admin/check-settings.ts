/** The settings of a business as an operator may write them. Each throws UsageError naming the option. */
import { isSupportedCountry } from 'libphonenumber-js/min'
import type { Business } from '../front-door/access/find-business.ts'
import { PAGE_IDENTIFY, type PageIdentify } from '../rules/state.ts'
import { UsageError } from './command.ts'

export function checkName(text: string): string {
  const name = text.trim()
  if (name === '' || name.length > 200) throw new UsageError('--name must have 1 to 200 characters')
  return name
}

/** A whole number from 1 to `most`. */
export function checkWhole(what: string, text: string, most: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= most) return number
  throw new UsageError(`${what} must be a whole number from 1 to ${most}, not "${text}"`)
}

/** Requests a minute. */
export const checkRateLimit = (text: string): number => checkWhole('--rate-limit', text, 999_999_999)

export function checkCurrency(text: string): string {
  if (/^[a-z0-9]{1,8}$/i.test(text)) return text.toUpperCase()
  throw new UsageError(`--currency must be a code of 1 to 8 letters or digits such as USD, not "${text}"`)
}

/** ISO 3166 alpha-2 of a country whose phone numbers can be read: that is what it is for. */
export function checkCountry(text: string): string {
  const country = text.toUpperCase()
  if (isSupportedCountry(country)) return country
  throw new UsageError(`--country must be a two-letter ISO 3166 code such as US or IL, not "${text}"`)
}

export function checkTimezone(text: string): string {
  const wanted = new UsageError(`--timezone must be an IANA zone such as Europe/Paris or UTC, not "${text}"`)
  if (!/^[A-Za-z]/.test(text)) throw wanted
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    throw wanted
  }
}

/** Allowed browser origins, or the single word `any`, which is the empty list. */
export function checkOrigins(texts: string[]): string[] {
  if (texts.length === 1 && texts[0] === 'any') return []
  return texts.map((text) => {
    const origin = URL.canParse(text) ? new URL(text).origin : 'null'
    if (/^https?:/.test(origin)) return origin
    throw new UsageError(`--origin must be any, or an origin such as https://shop.example, not "${text}"`)
  })
}

export function checkActive(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new UsageError(`--active must be true or false, not "${text}"`)
}

export function checkPageIdentify(text: string): PageIdentify {
  const found = PAGE_IDENTIFY.find((setting) => setting === text)
  if (found !== undefined) return found
  throw new UsageError(`--page-identify must be open or confirmed, not "${text}"`)
}

export function checkBots(text: string): Business['bots'] {
  if (text === 'ignore' || text === 'allow') return text
  throw new UsageError(`--bots must be ignore or allow, not "${text}"`)
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Any id of ours. `what` is what the operator would call it. */
export function checkId(what: string, text: string): string {
  if (UUID.test(text)) return text.toLowerCase()
  throw new UsageError(`${what} must be an id such as 0199a0f4-…, not "${text}"`)
}
