import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { SendResult } from './send-result.ts'

export interface ResponseSummary {
  status: number
  /** Milliseconds from the Retry-After header; null when it is absent or invalid. */
  retryAfterMs: number | null
  /** The first 64 KiB of the body; empty when only the status was read. */
  text: string
}

/**
 * Timeouts, early requests, and rejected credentials: the item itself is valid, and an operator can correct the
 * credentials.
 */
const RETRYABLE = new Set([401, 403, 408, 425])
const TOO_MANY = 429
/** Pause in milliseconds for a destination that sends no Retry-After. */
export const DEFAULT_RETRY_AFTER_MS = 60_000

/** Classifies a response that is not a success by its status. */
export function classifyStatus(response: ResponseSummary): Exclude<SendResult, { kind: 'sent' }> {
  const { status } = response
  const reason = `HTTP ${status}`
  if (RETRYABLE.has(status) || status === TOO_MANY || status >= 500 || status < 300) return retryLater(response, reason)
  return { kind: 'dead', reason: status < 400 ? `${reason}: redirects are not followed` : reason }
}

/** A retry. Only the status and Retry-After determine its time; the body does not matter. */
export function retryLater(
  { status, retryAfterMs }: ResponseSummary,
  reason: string,
): Extract<SendResult, { kind: 'retry' }> {
  if (status === TOO_MANY)
    return { kind: 'retry', reason, afterMs: retryAfterMs ?? DEFAULT_RETRY_AFTER_MS, holdsDestination: true }
  return { kind: 'retry', reason, ...(retryAfterMs !== null && { afterMs: retryAfterMs }) }
}

/** The parsed body; undefined when it does not match `schema`. */
export function parseBody<Schema extends TSchema>(schema: Schema, text: string): Static<Schema> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Value.Check(schema, value) ? value : undefined
  } catch {
    return undefined
  }
}
