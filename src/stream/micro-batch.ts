/** What a partition's loop hands to the save, and what comes back. */
import type { Answer, Request } from './entry.ts'

export interface MicroBatch {
  partition: string
  epoch: number
  /** The committed position that this batch follows. */
  from: string
  /** The id of its last entry: the position once it is committed. */
  to: string
  requests: BatchedRequest[]
  poisoned: PoisonedEntry[]
}

export interface BatchedRequest {
  streamId: string
  frontDoor: string
  request: Request
}

/** What could not be read: dead-lettered in the same save as its neighbours' effects. */
export interface PoisonedEntry {
  streamId: string
  /** As far as it could be read: an erasure looks through the dead letters of its business. */
  businessId?: string
  reason: string
  payload: string
}

export interface AddressedAnswer {
  frontDoor: string
  n: number
  answer: Answer
}

export type Outcome =
  | { kind: 'applied'; answers: AddressedAnswer[] }
  /** Another owner has the partition: nothing was written. */
  | { kind: 'fenced' }
  /** The signal came while waiting for trouble to pass: nothing was written. */
  | { kind: 'stopped' }

/**
 * Applies one micro-batch, in one transaction with the move of the position from `from` to `to`. Call `beat`
 * after each step that made progress: however long the whole takes, the loop is alive.
 */
export type ApplyMicroBatch = (batch: MicroBatch, signal: AbortSignal, beat: () => void) => Promise<Outcome>
