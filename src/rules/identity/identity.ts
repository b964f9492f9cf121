import { IDENTITY_KINDS, type Identity, type IdentityKind } from '../events/facts.ts'
import { type Fault, faultOf } from '../faults.ts'
import { isPlaceholder, isPlaceholderEmail } from './placeholders.ts'
import { readPhone } from './read-phone.ts'
import { looksRounded, looksRoundedPhone } from './rounded.ts'
import { isClean, trimSigns, trimText, withoutInvisible } from '../events/text.ts'

/** The identity object as sent. A null field counts as absent. */
export interface RawIdentity {
  email?: string | null
  phone?: string | number | null
  platformCustomerId?: string | number | null
}

/** The result for one field: its part of the identity, a warning when it is ignored, or a fault. */
type FieldResult = { part: Identity } | { warning: string } | { fault: Fault }

/**
 * Normalises the identity of an event (decisions, "Identity"). `country` is that of the business, for national phone
 * numbers. Placeholders are dropped with a warning. `identity` is null when no field remains, or when there are faults.
 * If it is null without faults, the front door responds with `identity_required`. Warnings and faults never repeat
 * values that were sent.
 */
export function readIdentity(
  raw: RawIdentity,
  country: string | null,
): { identity: Identity | null; warnings: string[]; faults: Fault[] } {
  const identity: Identity = {}
  const warnings: string[] = []
  const faults: Fault[] = []
  for (const kind of IDENTITY_KINDS) {
    const value = raw[kind]
    if (value === undefined || value === null) continue
    const result = readField(kind, value, country)
    if ('part' in result) Object.assign(identity, result.part)
    else if ('warning' in result) warnings.push(result.warning)
    else faults.push(result.fault)
  }
  const usable = faults.length === 0 && Object.keys(identity).length > 0
  return { identity: usable ? identity : null, warnings, faults }
}

function readField(kind: IdentityKind, value: string | number, country: string | null): FieldResult {
  const text = trimIdentity(kind, String(value))
  if (isPlaceholder(text)) return ignored(kind)
  if (typeof value === 'number') {
    const fault = numberFault(kind, value)
    if (fault !== undefined) return { fault }
  }
  if (!isClean(text)) return { fault: faultOf(`identity.${kind}`, 'clean_text') }
  return READERS[kind](text, country)
}

const READERS: Record<IdentityKind, (text: string, country: string | null) => FieldResult> = {
  platformCustomerId: readCustomerId,
  email: readEmail,
  phone: readPhoneField,
}

/** Invisible characters have no meaning in an email or a phone. In a customer id, only those at its ends have none. */
function trimIdentity(kind: IdentityKind, text: string): string {
  if (kind === 'platformCustomerId') return trimSigns(text, INVISIBLE)
  return trimText(withoutInvisible(text))
}

const INVISIBLE = /^[\s\u0085\p{Cf}]$/u

/** A number beyond 2^53 − 1 has already lost digits. A phone that is not a whole number is invalid, too. */
function numberFault(kind: IdentityKind, value: number): Fault | undefined {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    return faultOf(`identity.${kind}`, 'too_large_a_number')
  }
  if (kind === 'phone' && (!Number.isInteger(value) || value < 0)) {
    return faultOf('identity.phone', 'whole_phone')
  }
  return undefined
}

function ignored(kind: IdentityKind): FieldResult {
  return { warning: `identity.${kind} was ignored: it is a placeholder, not an identity` }
}

function rounded(kind: IdentityKind): FieldResult {
  return {
    warning: `identity.${kind} was ignored: it looks rounded by a spreadsheet, so that many people share it; format the column as text`,
  }
}

function readCustomerId(text: string): FieldResult {
  if (looksRounded(text)) return rounded('platformCustomerId')
  if (text.length > 255) return { fault: faultOf('identity.platformCustomerId', 'characters', { min: 1, max: 255 }) }
  return { part: { platformCustomerId: text } }
}

function readEmail(text: string): FieldResult {
  const email = text.toLowerCase()
  if (isPlaceholderEmail(email)) return ignored('email')
  if (email.length < 3 || email.length > 320)
    return { fault: faultOf('identity.email', 'characters', { min: 3, max: 320 }) }
  if (!/^[^\s\u0085@]+@[^\s\u0085@]+$/.test(email)) {
    return { fault: faultOf('identity.email', 'email_parts') }
  }
  return { part: { email } }
}

function readPhoneField(text: string, country: string | null): FieldResult {
  if (text.length > 64) return { fault: faultOf('identity.phone', 'characters_up_to', { max: 64 }) }
  if (looksRoundedPhone(text)) return rounded('phone')
  const phone = readPhone(text, country)
  if (phone === undefined) return ignored('phone')
  return { part: { phone: phone.value, ...(phone.read && { phoneRead: true }) } }
}
