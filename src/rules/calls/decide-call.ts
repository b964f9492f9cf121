/** Decides what becomes of the message of a call: in a claim, and after an attempt. Instants are epoch milliseconds. */
import type { FailureReason, CallSkipReason } from '../messages/message-reasons.ts'

export interface CallFacts {
  now: number
  expiresAt: number
  /** State of the message. */
  state: string
  /** The worker that had claimed it has died: whether it was handed over is not known. */
  hasDied: boolean
  /** Null: the contact has none. Undefined: the channel has no addresses. */
  address: string | null | undefined
  isSuppressed: boolean
}

export type CallVerdict =
  | { kind: 'send' }
  | { kind: 'settle'; state: 'skipped' | 'unknown'; reason: CallSkipReason | null }
  /** A report of the provider, or a person, has settled it. */
  | { kind: 'drop' }

export function decideCall({ now, expiresAt, state, hasDied, address, isSuppressed }: CallFacts): CallVerdict {
  if (state !== 'queued' && state !== 'claimed') return { kind: 'drop' }
  if (hasDied) return { kind: 'settle', state: 'unknown', reason: null }
  const skip = (reason: CallSkipReason): CallVerdict => ({ kind: 'settle', state: 'skipped', reason })
  if (now >= expiresAt) return skip('expired')
  if (address === null) return skip('no_address')
  return isSuppressed ? skip('suppressed') : { kind: 'send' }
}

export type AfterAttempt =
  | { state: 'sent' | 'bounced' | 'failed' | 'unknown'; reason: FailureReason | null }
  | { state: 'retry'; at: number }

/** A message that was certainly not accepted is tried again until it expires, or is looked at for the last time then. */
export const retryAt = (now: number, backoffMs: number, expiresAt: number): AfterAttempt => ({
  state: 'retry',
  at: Math.max(now, Math.min(now + Math.round(backoffMs), expiresAt)),
})
