import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { SendResult } from './send-result.ts'

export interface ResponseSummary {
  status: number
  /** From the Retry-After header. */
  retryAfterMs: number | null
  /** The first 64 KiB of the body; empty when only the status was read. */
  text: string
}

/** Time-outs and early requests; also rejected credentials: the item is right, and an operator can correct them. */
const RETRYABLE = new Set([401, 403, 408, 425])
const TOO_MANY = 429
/** How long nothing is sent to a destination that gives no Retry-After. */
export const DEFAULT_RETRY_AFTER_MS = 60_000

/** Classifies a response that is not a success by its status. */
export function classifyStatus(response: ResponseSummary): Exclude<SendResult, { kind: 'sent' }> {
  const { status } = response
  const reason = `HTTP ${status}`
  if (RETRYABLE.has(status) || status === TOO_MANY || status >= 500 || status < 300) return retryLater(response, reason)
  return { kind: 'dead', reason: status < 400 ? `${reason}: redirects are not followed` : reason }
}

/** A retry at the time that the status and Retry-After determine, whatever the body contains. */
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
