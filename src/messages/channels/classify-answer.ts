/** The outcome of a message that was sent by HTTP (campaigns, "At most once"). */
import type { ResponseSummary } from '../../outbound/classify-response.ts'
import { describeNetworkError } from '../../outbound/post.ts'
import { RefusedTargetError } from '../../outbound/resolve-target.ts'
import type { SendOutcome } from './provider.ts'
import { showWords } from './words.ts'

/**
 * Only 429 proves that the message was not accepted. `isIdempotent`: the provider recognises a repeat by a key of the
 * message, so the message can be sent again after a 5xx.
 */
export function classifyAnswer(answer: ResponseSummary, { isIdempotent = false } = {}): SendOutcome {
  const { status } = answer
  if (status >= 200 && status < 300) return { kind: 'accepted' }
  const reason = reasonOf(answer)
  if (status === 429) return { kind: 'temporary', reason }
  if (status >= 300 && status < 500) return { kind: 'refused', reason }
  return isIdempotent && status >= 500 ? { kind: 'temporary', reason, contact: 'written' } : { kind: 'unknown', reason }
}

/**
 * Status and words of the receiver. The words only when they are JSON, as of all providers: an address that a business has
 * entered may be of a page or a service that the business should not read.
 */
export function reasonOf({ status, text }: ResponseSummary): string {
  const redirected = status >= 300 && status < 400 ? ': redirects are not followed' : ''
  return `HTTP ${status}${redirected}${isJson(text) ? `: ${text}` : ''}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Error codes before the request was sent, on Bun, Deno and Node. */
const BEFORE_REQUEST = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'FailedToOpenSocket',
])
const OF_CERTIFICATES = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/

/** For a request without an answer. */
export function classifyFailure(error: unknown): SendOutcome {
  if (error instanceof RefusedTargetError)
    return { kind: 'temporary', reason: showWords(error.message), contact: 'none' }
  const { code: given = '' } = error as { code?: string | number }
  const code = String(given)
  const isUnsent = BEFORE_REQUEST.has(code) || OF_CERTIFICATES.test(code)
  const reason = describeNetworkError(error)
  return isUnsent ? { kind: 'temporary', reason, contact: 'none' } : { kind: 'unknown', reason }
}
