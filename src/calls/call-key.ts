/** The idempotency key of a call: stored as hashes, which outlive an erasure and name no person. */
import { createHash } from 'node:crypto'
import { type MessageKey, signWith } from '../messages/message-key.ts'
import type { CallTo } from '../rules/calls/call.ts'

const BYTES = 16

export interface CallKey {
  keyHash: Buffer
  toHash: Buffer
}

export function hashCallKey(key: MessageKey, businessId: string, idempotencyKey: string, to: CallTo): CallKey {
  return {
    keyHash: createHash('sha256').update(idempotencyKey).digest().subarray(0, BYTES),
    toHash: signWith(key, 'address', `${businessId}\0call\0${to.kind}\0${to.value}`).subarray(0, BYTES),
  }
}
