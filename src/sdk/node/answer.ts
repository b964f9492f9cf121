/** What one try came to, and what that means. */
import type { DeliveryError } from './types.ts'

/** It was taken: a 200 or 202. */
export interface Accepted {
  status: number
  data: Record<string, unknown>
  error?: undefined
  retryAfterMs?: undefined
}
export interface Failure {
  /** 0: no answer came. */
  status: number
  error: DeliveryError
  /** The service asked to wait so long. */
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

/** As the service writes it; anybody else's may be anything. */
interface Body {
  data?: Record<string, unknown>
  message?: string
  error?: { code?: string }
}

/** Throws when an answer that would be a good one is not whole. */
export function readAnswer({ ok, status, headers }: Response, text: string): Answer {
  let body: Body = {}
  try {
    body = Object(JSON.parse(text)) as Body
  } catch (error) {
    // An answer without a type is not the service's; a server that breaks off may look like that.
    if (ok && /json|^$/.test(headers.get('content-type') ?? '')) throw error
  }
  const { data, message = `The service answers ${status}`, error } = body
  if (ok && data) return { status, data }
  // A redirect is not followed: the key would go with it.
  if (status < 400) return unexpected(status)
  const { code = `http_${status}` } = Object(error) as { code?: string }
  const retryable = status === 408 || status === 429 || status >= 500
  return { ...failure(code, message, retryable, status), ...(retryable && readRetryAfter(headers)) }
}

/** A longer Retry-After is taken as this one: who asks for a day is asked again before. */
const MAX_PAUSE_MS = 300_000

/** Seconds, or a date by the clock of who sent it. */
function readRetryAfter(headers: Headers): { retryAfterMs: number } | undefined {
  const text = headers.get('retry-after') ?? ''
  const ms = /^\d+$/.test(text)
    ? Number(text) * 1000
    : Date.parse(text) - (Date.parse(headers.get('date') ?? '') || Date.now())
  return ms > 0 ? { retryAfterMs: Math.min(ms, MAX_PAUSE_MS) } : undefined
}
