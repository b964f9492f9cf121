import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Verdict } from './verdict.ts'

export interface Answer {
  status: number
  /** What it asked for with Retry-After. */
  retryAfterMs: number | null
  /** The first 64 KiB of the body; empty when only the status was asked for. */
  text: string
}

/** Time-outs and early calls; and credentials that are refused: the conversion is good, and an operator can mend the rest. */
const PASSING = new Set([401, 403, 408, 425])
const TOO_MANY = 429
/** How long a destination is left alone when it does not say. */
export const HOLD_MS = 60_000

/** What a status by itself means, of an answer that is no success. */
export function classifyStatus(answer: Answer): Exclude<Verdict, { kind: 'sent' }> {
  const { status } = answer
  const reason = `HTTP ${status}`
  if (PASSING.has(status) || status === TOO_MANY || status >= 500 || status < 300) return tryAgain(answer, reason)
  return { kind: 'dead', reason: status < 400 ? `${reason}: redirects are not followed` : reason }
}

/** The conversion is good; and whatever the body tells, the status and Retry-After say when. */
export function tryAgain({ status, retryAfterMs }: Answer, reason: string): Extract<Verdict, { kind: 'retry' }> {
  if (status === TOO_MANY) return { kind: 'retry', reason, afterMs: retryAfterMs ?? HOLD_MS, holds: true }
  return { kind: 'retry', reason, ...(retryAfterMs !== null && { afterMs: retryAfterMs }) }
}

/** What a body holds; undefined when it is not of this shape. */
export function readAnswer<Schema extends TSchema>(schema: Schema, text: string): Static<Schema> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Value.Check(schema, value) ? value : undefined
  } catch {
    return undefined
  }
}
