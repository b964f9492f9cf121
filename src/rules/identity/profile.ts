import { PROFILE_FIELDS, type Profile, type ProfileField } from '../events/facts.ts'
import { type Fault, faultOf } from '../faults.ts'
import { sanitiseText, trimText } from '../events/text.ts'
import { zoneNamed } from '../time/zones.ts'

const MAX_LENGTH = 256

/** The profile as sent. A field that is null or contains only white space counts as absent. */
export type RawProfile = Partial<Record<ProfileField | 'name', string | null>>

/**
 * Limits of a name sent without a secret key. Messages show the name to the person, so it must not be a message itself.
 */
const MAX_PAGE_NAME = 100
const ADDRESS = /:\/\/|www\./i
const NAMES = new Set<string>(['name', 'firstName', 'lastName'])

/**
 * Reads a profile (contract, "Profile object"). `name` is split, and explicit parts take precedence field by field.
 * Values are trimmed. A value longer than 256 characters is a fault. An unknown time zone or language is left out with
 * a warning. So is a name sent without a secret key if it is longer than 100 characters or contains a web address.
 */
export function readProfile(
  raw: RawProfile,
  { keyed }: { keyed: boolean },
): { profile: Profile; warnings: string[]; faults: Fault[] } {
  const warnings: string[] = []
  const faults: Fault[] = []
  const take = (field: ProfileField | 'name'): string | undefined => {
    const { text, changed } = sanitiseText(raw[field] ?? '')
    const value = trimText(text)
    if (value.length > MAX_LENGTH) {
      faults.push(faultOf(`profile.${field}`, 'characters_up_to', { max: MAX_LENGTH }))
      return undefined
    }
    if (!keyed && NAMES.has(field) && (value.length > MAX_PAGE_NAME || ADDRESS.test(value))) {
      warnings.push(
        `profile.${field} was ignored: without a secret key a name has at most ${MAX_PAGE_NAME} characters and holds no address`,
      )
      return undefined
    }
    if (changed) warnings.push(`profile.${field} held characters that cannot be stored; they were replaced`)
    return value === '' ? undefined : value
  }
  const profile: Profile = splitName(take('name'))
  for (const field of PROFILE_FIELDS) {
    const value = take(field)
    if (value === undefined) continue
    const known = READERS[field]?.(value) ?? { value }
    if ('warning' in known) warnings.push(known.warning)
    else profile[field] = known.value
  }
  return { profile, warnings, faults }
}

/** Splits a name into its first word and the rest. */
function splitName(name: string | undefined): Pick<Profile, 'firstName' | 'lastName'> {
  if (name === undefined) return {}
  const [firstName = '', ...rest] = name.split(/[\s\u0085]+/)
  return rest.length === 0 ? { firstName } : { firstName, lastName: trimText(name.slice(firstName.length)) }
}

const READERS: Partial<Record<ProfileField, (text: string) => { value: string } | { warning: string }>> = {
  // Many systems write `de_DE`.
  language: (text) =>
    isLanguageTag(text.replaceAll('_', '-'))
      ? { value: text.replaceAll('_', '-') }
      : { warning: 'profile.language was not stored: send a BCP 47 language tag, such as en or pt-BR' },
  timezone: (text) => {
    const value = readTimeZone(text)
    return value === undefined
      ? { warning: 'profile.timezone was not stored: send an IANA time zone, such as Europe/Paris' }
      : { value }
  },
}

/** Every registered language has two or three letters. So `english` is not a tag, although its format is valid. */
function isLanguageTag(text: string): boolean {
  if (!/^[a-z]{2,3}(-|$)/i.test(text)) return false
  try {
    return Intl.getCanonicalLocales(text).length === 1
  } catch {
    return false
  }
}

/**
 * Returns the zone as IANA spells it; undefined when unknown. The format of the contract is Area/City; only UTC has no
 * area.
 */
const readTimeZone = (text: string): string | undefined =>
  text.includes('/') || /^utc$/i.test(text) ? zoneNamed(text) : undefined
