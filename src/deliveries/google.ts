/** Google Ads' uploads of click conversions with enhanced identifiers: one conversion a request, and what its answers mean. */
import { type Static, Type } from '@sinclair/typebox'
import { type Conversion, deduplicationId } from './conversion.ts'
import type { Outgoing, Verdict } from '../outbound/verdict.ts'
import { hashIdentifier } from './hash-identifier.ts'
import { type Answer, HOLD_MS, classifyStatus, readAnswer, tryAgain } from '../outbound/classify-response.ts'
import type { GoogleSecret, GoogleSettings } from './settings.ts'

/** Google takes five identifiers of a person. */
const MOST_IDENTIFIERS = 5
const MOST_EMAILS = 3

/** Why Google would take it in no case; undefined when it may. */
export function refuseForGoogle({ type }: Conversion, settings: GoogleSettings): string | undefined {
  return settings.conversionActions[type] ? undefined : `no conversion action is set for a ${type}`
}

/** `validateOnly`: it is checked and not recorded. */
export function composeForGoogle(
  conversion: Conversion,
  settings: GoogleSettings,
  { secret, accessToken, validateOnly }: { secret: GoogleSecret; accessToken: string; validateOnly: boolean },
): Outgoing {
  const { baseUrl, apiVersion, customerId, loginCustomerId } = settings
  return {
    url: `${baseUrl}/${apiVersion}/customers/${customerId}:uploadClickConversions`,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${accessToken}`,
      'developer-token': secret.developerToken,
      ...(loginCustomerId !== undefined && { 'login-customer-id': loginCustomerId }),
    },
    body: JSON.stringify({ conversions: [conversionOf(conversion, settings)], partialFailure: true, validateOnly }),
  }
}

function conversionOf(conversion: Conversion, settings: GoogleSettings) {
  const { type, occurredAt, amount, currency } = conversion
  const consent = settings.consent?.toUpperCase()
  return {
    conversionAction: `customers/${settings.customerId}/conversionActions/${settings.conversionActions[type]}`,
    conversionDateTime: writeTime(occurredAt),
    orderId: deduplicationId(conversion),
    ...(amount !== null && { conversionValue: amount, currencyCode: currency }),
    ...clickOf(conversion),
    ...(consent !== undefined && { consent: { adUserData: consent, adPersonalization: consent } }),
  }
}

/** `yyyy-mm-dd hh:mm:ss+00:00`, in UTC. */
function writeTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19).replace('T', ' ')}+00:00`
}

/** One click id alone; the ids of iOS, made to name nobody, go without identifiers. */
function clickOf(conversion: Conversion) {
  const { gclid, gbraid, wbraid } = conversion.clicks
  if (!gclid && gbraid) return { gbraid: gbraid.id }
  if (!gclid && wbraid) return { wbraid: wbraid.id }
  const userIdentifiers = identifiersOf(conversion)
  return { ...(gclid && { gclid: gclid.id }), ...(userIdentifiers.length > 0 && { userIdentifiers }) }
}

function identifiersOf({ emails, phones }: Conversion) {
  const given = { userIdentifierSource: 'FIRST_PARTY' }
  return [
    ...emails.slice(0, MOST_EMAILS).map((email) => ({ ...given, hashedEmail: hashIdentifier(normaliseEmail(email)) })),
    ...phones.map((phone) => ({ ...given, hashedPhoneNumber: hashIdentifier(`+${phone}`) })),
  ].slice(0, MOST_IDENTIFIERS)
}

/** Gmail reads no full stops before its @, and Google hashes addresses without them. */
function normaliseEmail(email: string): string {
  const [local = '', domain = ''] = email.split('@')
  return /^(gmail|googlemail)\.com$/.test(domain) ? `${local.replaceAll('.', '')}@${domain}` : email
}

/** It has the conversion already. */
const KNOWN = new Set(['CLICK_CONVERSION_ALREADY_EXISTS', 'DUPLICATE_ORDER_ID', 'ORDER_ID_ALREADY_IN_USE'])
/** A click or an action that is too new is taken six hours later. */
const TOO_RECENT = new Set(['TOO_RECENT_EVENT', 'TOO_RECENT_CONVERSION_ACTION'])
const SIX_HOURS_MS = 6 * 3_600_000
const TRANSIENT = new Set(['TRANSIENT_ERROR', 'INTERNAL_ERROR', 'DEADLINE_EXCEEDED'])
const LIMITS = new Set([
  'RESOURCE_EXHAUSTED',
  'RESOURCE_TEMPORARILY_EXHAUSTED',
  'EXCESSIVE_SHORT_TERM_QUERY_RESOURCE_CONSUMPTION',
])

const GoogleFault = Type.Object({
  details: Type.Optional(
    Type.Array(
      Type.Object({
        errors: Type.Optional(
          Type.Array(Type.Object({ errorCode: Type.Optional(Type.Record(Type.String(), Type.String())) })),
        ),
      }),
    ),
  ),
})
const GoogleAnswer = Type.Object({
  partialFailureError: Type.Optional(GoogleFault),
  error: Type.Optional(GoogleFault),
})

export function classifyGoogleResponse(answer: Answer): Verdict {
  const told = readAnswer(GoogleAnswer, answer.text)
  const fault = told?.partialFailureError ?? told?.error
  if (fault) return judgeFault(answer, codesOf(fault))
  if (answer.status !== 200) return classifyStatus(answer)
  // Nothing went wrong: results are there, or it was only to be checked.
  return told ? { kind: 'sent' } : tryAgain(answer, 'an answer that cannot be read')
}

function judgeFault(answer: Answer, codes: string[]): Verdict {
  const has = (some: Set<string>) => codes.some((code) => some.has(code))
  const reason = [`HTTP ${answer.status}`, ...codes].join(', ')
  if (has(LIMITS)) return { kind: 'retry', reason, afterMs: answer.retryAfterMs ?? HOLD_MS, holds: true }
  if (has(TRANSIENT)) return tryAgain(answer, reason)
  if (has(TOO_RECENT)) return { kind: 'retry', reason, afterMs: Math.max(SIX_HOURS_MS, answer.retryAfterMs ?? 0) }
  if (codes.length > 0 && codes.every((code) => KNOWN.has(code))) return { kind: 'sent' }
  // A part that failed comes with status 200.
  return answer.status === 200 ? { kind: 'dead', reason } : { ...classifyStatus(answer), reason }
}

/** The names of its faults, and nothing of its words: they could hold what was sent. */
function codesOf({ details = [] }: Static<typeof GoogleFault>): string[] {
  const codes = details.flatMap(({ errors = [] }) => errors.flatMap(({ errorCode = {} }) => Object.values(errorCode)))
  return [...new Set(codes)].filter((code) => /^[A-Z_]{1,80}$/.test(code)).slice(0, 5)
}
