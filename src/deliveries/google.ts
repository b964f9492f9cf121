/** Uploads click conversions with enhanced identifiers to Google Ads, one per request, and classifies the responses. */
import { type Static, Type } from '@sinclair/typebox'
import { type Conversion, deduplicationId } from './conversion.ts'
import type { OutgoingRequest, SendResult } from '../outbound/send-result.ts'
import { hashIdentifier } from './hash-identifier.ts'
import {
  type ResponseSummary,
  DEFAULT_RETRY_AFTER_MS,
  classifyStatus,
  parseBody,
  retryLater,
} from '../outbound/classify-response.ts'
import type { GoogleSecret, GoogleSettings } from './settings.ts'

/** Maximum number of identifiers that Google accepts for one person. */
const MAX_IDENTIFIERS = 5
const MAX_EMAILS = 3

/** Returns the reason why Google will never accept this conversion; undefined when Google may accept it. */
export function findGoogleRefusal({ type }: Conversion, settings: GoogleSettings): string | undefined {
  return settings.conversionActions[type] ? undefined : `the destination has no conversion action for a ${type}`
}

/** `validateOnly`: Google only checks the conversion, and does not record it. */
export function composeGoogleRequest(
  conversion: Conversion,
  settings: GoogleSettings,
  { secret, accessToken, validateOnly }: { secret: GoogleSecret; accessToken: string; validateOnly: boolean },
): OutgoingRequest {
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

/**
 * Google accepts only one click id. The click ids of iOS (gbraid, wbraid) are anonymous and are sent without
 * identifiers.
 */
function clickOf(conversion: Conversion) {
  const { gclid, gbraid, wbraid } = conversion.clicks
  if (!gclid && gbraid) return { gbraid: gbraid.id }
  if (!gclid && wbraid) return { wbraid: wbraid.id }
  const userIdentifiers = identifiersOf(conversion)
  return { ...(gclid && { gclid: gclid.id }), ...(userIdentifiers.length > 0 && { userIdentifiers }) }
}

function identifiersOf({ emails, phones }: Conversion) {
  const source = { userIdentifierSource: 'FIRST_PARTY' }
  return [
    ...emails.slice(0, MAX_EMAILS).map((email) => ({ ...source, hashedEmail: hashIdentifier(normaliseEmail(email)) })),
    ...phones.map((phone) => ({ ...source, hashedPhoneNumber: hashIdentifier(`+${phone}`) })),
  ].slice(0, MAX_IDENTIFIERS)
}

/** Gmail ignores full stops before the @, and Google hashes such addresses without them. */
function normaliseEmail(email: string): string {
  const [local = '', domain = ''] = email.split('@')
  return /^(gmail|googlemail)\.com$/.test(domain) ? `${local.replaceAll('.', '')}@${domain}` : email
}

/** Codes that mean that Google already has the conversion. */
const DUPLICATE = new Set(['CLICK_CONVERSION_ALREADY_EXISTS', 'DUPLICATE_ORDER_ID', 'ORDER_ID_ALREADY_IN_USE'])
/**
 * Codes that mean that the click or the conversion action is too new. Google accepts the conversion six hours later.
 */
const TOO_RECENT = new Set(['TOO_RECENT_EVENT', 'TOO_RECENT_CONVERSION_ACTION'])
const SIX_HOURS_MS = 6 * 3_600_000
const TRANSIENT = new Set(['TRANSIENT_ERROR', 'INTERNAL_ERROR', 'DEADLINE_EXCEEDED'])
const LIMITS = new Set([
  'RESOURCE_EXHAUSTED',
  'RESOURCE_TEMPORARILY_EXHAUSTED',
  'EXCESSIVE_SHORT_TERM_QUERY_RESOURCE_CONSUMPTION',
])

const GoogleError = Type.Object({
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
const GoogleBody = Type.Object({
  partialFailureError: Type.Optional(GoogleError),
  error: Type.Optional(GoogleError),
})

export function classifyGoogleResponse(response: ResponseSummary): SendResult {
  const body = parseBody(GoogleBody, response.text)
  const error = body?.partialFailureError ?? body?.error
  if (error) return classifyGoogleError(response, codesOf(error))
  if (response.status !== 200) return classifyStatus(response)
  // Without an error, the response contains results, or the conversion was only validated.
  return body ? { kind: 'sent' } : retryLater(response, 'unreadable response')
}

function classifyGoogleError(response: ResponseSummary, codes: string[]): SendResult {
  const has = (some: Set<string>) => codes.some((code) => some.has(code))
  const reason = [`HTTP ${response.status}`, ...codes].join(', ')
  if (has(LIMITS))
    return { kind: 'retry', reason, afterMs: response.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS, holdsDestination: true }
  if (has(TRANSIENT)) return retryLater(response, reason)
  if (has(TOO_RECENT)) return { kind: 'retry', reason, afterMs: Math.max(SIX_HOURS_MS, response.retryAfterMs ?? 0) }
  if (codes.length > 0 && codes.every((code) => DUPLICATE.has(code))) return { kind: 'sent' }
  // Partial failures have status 200.
  return response.status === 200 ? { kind: 'dead', reason } : { ...classifyStatus(response), reason }
}

/** Returns only the codes of the errors: their messages could contain personal data from the request. */
function codesOf({ details = [] }: Static<typeof GoogleError>): string[] {
  const codes = details.flatMap(({ errors = [] }) => errors.flatMap(({ errorCode = {} }) => Object.values(errorCode)))
  return [...new Set(codes)].filter((code) => /^[A-Z_]{1,80}$/.test(code)).slice(0, 5)
}
