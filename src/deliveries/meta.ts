/** Sends conversions to Meta's Conversions API, one per request, and classifies the responses. */
import { type Static, Type } from '@sinclair/typebox'
import type { ConversionType } from '../rules/events/facts.ts'
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
import type { MetaSecret, MetaSettings } from './settings.ts'

/** Meta's standard events; `Schedule` means a booked appointment. */
const EVENT_NAMES: Record<ConversionType, string> = { purchase: 'Purchase', lead: 'Lead', booking: 'Schedule' }
const DAY_MS = 86_400_000
const MAX_AGE_DAYS = 7

/**
 * Returns the reason why Meta will never accept this conversion; undefined when Meta may accept it. `now`: epoch
 * milliseconds.
 */
export function findMetaRefusal(conversion: Conversion, now: number): string | undefined {
  const { type, amount, occurredAt } = conversion
  if (now - occurredAt > MAX_AGE_DAYS * DAY_MS)
    return `Meta does not accept conversions older than ${MAX_AGE_DAYS} days`
  if (type === 'purchase' && amount === null) return 'Meta does not accept a purchase without a value'
  if (Object.keys(userOf(conversion)).length === 0)
    return 'Meta does not accept a conversion without a click or an identity from a server'
  return undefined
}

export function composeMetaRequest(
  conversion: Conversion,
  settings: MetaSettings,
  secret: MetaSecret,
): OutgoingRequest {
  const { baseUrl, apiVersion, pixelId, testEventCode } = settings
  return {
    url: `${baseUrl}/${apiVersion}/${pixelId}/events`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret.accessToken}` },
    body: JSON.stringify({
      data: [eventOf(conversion, settings)],
      ...(testEventCode !== undefined && { test_event_code: testEventCode }),
    }),
  }
}

function eventOf(conversion: Conversion, { actionSource }: MetaSettings) {
  const { type, occurredAt, amount, currency } = conversion
  return {
    event_name: EVENT_NAMES[type],
    event_time: Math.floor(occurredAt / 1000),
    event_id: deduplicationId(conversion),
    action_source: actionSource,
    user_data: userOf(conversion),
    ...(amount !== null && { custom_data: { value: amount, currency } }),
  }
}

function userOf({ emails, phones, customerId, clicks: { fbclid } }: Conversion) {
  return {
    ...(emails.length > 0 && { em: emails.map(hashIdentifier) }),
    ...(phones.length > 0 && { ph: phones.map(hashIdentifier) }),
    ...(customerId !== null && { external_id: [hashIdentifier(customerId)] }),
    // Version, index of the domain (1: unknown), time of the click, and the unchanged click id.
    ...(fbclid && { fbc: `fb.1.${fbclid.at}.${fbclid.id}` }),
  }
}

const MetaError = Type.Object({
  code: Type.Optional(Type.Number()),
  error_subcode: Type.Optional(Type.Number()),
  is_transient: Type.Optional(Type.Boolean()),
  fbtrace_id: Type.Optional(Type.String()),
})
const MetaBody = Type.Object({
  events_received: Type.Optional(Type.Number()),
  error: Type.Optional(MetaError),
})

/**
 * Unknown and temporary errors, rate limits, and a rejected token. The conversion itself is valid in all these cases.
 */
const TRANSIENT_CODES = new Set([1, 2])
const LIMIT_CODES = new Set([4, 17, 32, 341, 613])
const TOKEN_CODES = new Set([102, 190])

export function classifyMetaResponse(response: ResponseSummary): SendResult {
  const body = parseBody(MetaBody, response.text)
  if (body?.error) return classifyMetaError(response, body.error)
  if (response.status !== 200) return classifyStatus(response)
  return body?.events_received === 1 ? { kind: 'sent' } : retryLater(response, 'unreadable response')
}

/** Uses Meta's numeric codes: its messages could contain data from the request, even the token. */
function classifyMetaError(response: ResponseSummary, error: Static<typeof MetaError>): SendResult {
  const { code = 0, error_subcode: subcode = 0, is_transient: isTransient, fbtrace_id: traceId = '' } = error
  const trace = /^[\w-]{1,64}$/.test(traceId) ? `, trace ${traceId}` : ''
  const reason = `HTTP ${response.status}, Meta's code ${code}/${subcode}${trace}`
  if (LIMIT_CODES.has(code) || (code >= 80_000 && code < 80_100))
    return { kind: 'retry', reason, afterMs: response.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS, holdsDestination: true }
  const mayRetry = isTransient === true || TRANSIENT_CODES.has(code) || TOKEN_CODES.has(code)
  return mayRetry ? retryLater(response, reason) : { ...classifyStatus(response), reason }
}
