/** Meta's Conversions API: one event a request, and what its answers mean. */
import { type Static, Type } from '@sinclair/typebox'
import type { ConversionType } from '../rules/events/facts.ts'
import { type Conversion, deduplicationId } from './conversion.ts'
import type { Outgoing, Verdict } from '../outbound/verdict.ts'
import { hashIdentifier } from './hash-identifier.ts'
import { type Answer, HOLD_MS, classifyStatus, readAnswer, tryAgain } from '../outbound/classify-response.ts'
import type { MetaSecret, MetaSettings } from './settings.ts'

/** Meta's standard events; Schedule is its word for a booked appointment. */
const EVENT_NAMES: Record<ConversionType, string> = { purchase: 'Purchase', lead: 'Lead', booking: 'Schedule' }
const DAY_MS = 86_400_000
const OLDEST_DAYS = 7

/** Why Meta would take it in no case; undefined when it may. `now` is epoch ms. */
export function refuseForMeta(conversion: Conversion, now: number): string | undefined {
  const { type, amount, occurredAt } = conversion
  if (now - occurredAt > OLDEST_DAYS * DAY_MS) return `older than ${OLDEST_DAYS} days, which Meta does not take`
  if (type === 'purchase' && amount === null) return 'a purchase without a value, which Meta does not take'
  if (Object.keys(userOf(conversion)).length === 0) return 'no click and no identity that a server has sent'
  return undefined
}

export function composeForMeta(conversion: Conversion, settings: MetaSettings, secret: MetaSecret): Outgoing {
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
    // Version, index of the domain (1: none was known), when it was seen, the click id as it was.
    ...(fbclid && { fbc: `fb.1.${fbclid.at}.${fbclid.id}` }),
  }
}

const MetaError = Type.Object({
  code: Type.Optional(Type.Number()),
  error_subcode: Type.Optional(Type.Number()),
  is_transient: Type.Optional(Type.Boolean()),
  fbtrace_id: Type.Optional(Type.String()),
})
const MetaAnswer = Type.Object({
  events_received: Type.Optional(Type.Number()),
  error: Type.Optional(MetaError),
})

/** Unknown and temporary faults, limits of calls, and a token that is refused: nothing that lies in the conversion. */
const TRANSIENT_CODES = new Set([1, 2])
const LIMIT_CODES = new Set([4, 17, 32, 341, 613])
const TOKEN_CODES = new Set([102, 190])

export function classifyMetaResponse(answer: Answer): Verdict {
  const told = readAnswer(MetaAnswer, answer.text)
  if (told?.error) return classifyMetaError(answer, told.error)
  if (answer.status !== 200) return classifyStatus(answer)
  return told?.events_received === 1 ? { kind: 'sent' } : tryAgain(answer, 'an answer that cannot be read')
}

/** Meta's own words could hold what was sent, its token too: its numbers tell as much. */
function classifyMetaError(answer: Answer, error: Static<typeof MetaError>): Verdict {
  const { code = 0, error_subcode: subcode = 0, is_transient: isTransient, fbtrace_id: told = '' } = error
  const trace = /^[\w-]{1,64}$/.test(told) ? `, trace ${told}` : ''
  const reason = `HTTP ${answer.status}, Meta's code ${code}/${subcode}${trace}`
  if (LIMIT_CODES.has(code) || (code >= 80_000 && code < 80_100))
    return { kind: 'retry', reason, afterMs: answer.retryAfterMs ?? HOLD_MS, holds: true }
  const passes = isTransient === true || TRANSIENT_CODES.has(code) || TOKEN_CODES.has(code)
  return passes ? tryAgain(answer, reason) : { ...classifyStatus(answer), reason }
}
