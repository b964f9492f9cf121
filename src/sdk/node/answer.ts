/** The outcome of one attempt, and its meaning. */
import type { DeliveryError } from './types.ts'

/** The service accepted the request: a 200 or 202. */
export interface Accepted {
  status: number
  data: Record<string, unknown>
  error?: undefined
  retryAfterMs?: undefined
}
export interface Failure {
  /** 0 when there was no response. */
  status: number
  error: DeliveryError
  /** Milliseconds that the service asks to wait. */
  retryAfterMs?: number
  data?: undefined
}
export type Answer = Accepted | Failure

export const failure = (code: string, message: string, retryable = true, status = 0): Failure => ({
  status,
  error: { code, message, retryable },
})

export const TIMED_OUT = failure('timed_out', 'No answer in time')
export const ENDED = failure('closed', 'Ended before delivery')

export const unexpected = (status: number): Failure =>
  failure('unexpected_answer', `The service does not answer like this (${status}): check baseUrl`, false, status)

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The service's response body. Other servers may send anything. */
interface Body {
  data?: Record<string, unknown>
  message?: string
  error?: { code?: string }
}

/** Throws when a successful response is incomplete. */
export function readAnswer({ ok, status, headers }: Response, text: string): Answer {
  let body: Body = {}
  try {
    body = Object(JSON.parse(text)) as Body
  } catch (error) {
    // A response without a content type is not from the service, unless the server broke off.
    if (ok && /json|^$/.test(headers.get('content-type') ?? '')) throw error
  }
  const { data, message = `The service answers ${status}`, error } = body
  if (ok && data) return { status, data }
  // Redirects are not followed, because the key would go with them.
  if (status < 400) return unexpected(status)
  const { code = `http_${status}` } = Object(error) as { code?: string }
  const retryable = status === 408 || status === 429 || status >= 500
  return { ...failure(code, message, retryable, status), ...(retryable && readRetryAfter(headers)) }
}

/** Longest pause. If the server asks for more, the request is still sent again after this time. */
const MAX_PAUSE_MS = 300_000

/** Reads seconds, or a date on the sender's clock. */
function readRetryAfter(headers: Headers): { retryAfterMs: number } | undefined {
  const text = headers.get('retry-after') ?? ''
  const ms = /^\d+$/.test(text)
    ? Number(text) * 1000
    : Date.parse(text) - (Date.parse(headers.get('date') ?? '') || Date.now())
  return ms > 0 ? { retryAfterMs: Math.min(ms, MAX_PAUSE_MS) } : undefined
}
