/** What a partition's loop passes to the save, and what the save returns. */
import type { WorkerAnswer, IngestRequest } from './entry.ts'
import type { Sender } from '../stores/wake-ups.ts'

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
  request: IngestRequest
}

/** A request or entry that could not be read. The save that applies the rest of the batch makes it a dead letter. */
export interface PoisonedEntry {
  streamId: string
  /** Set when it could be read: an erasure searches the dead letters of its business. */
  businessId?: string
  reason: string
  payload: string
}

export interface AddressedAnswer {
  frontDoor: string
  n: number
  answer: WorkerAnswer
}

export interface AppliedOutcome {
  kind: 'applied'
  answers: AddressedAnswer[]
  /** The loops for which it has made work due. Default: none. */
  due?: readonly Sender[]
}

export type Outcome =
  | AppliedOutcome
  /** Another owner has the partition: nothing was written. */
  | { kind: 'fenced' }
  /** The signal aborted between two attempts: nothing was written. */
  | { kind: 'stopped' }

/**
 * Applies one micro-batch, in one transaction with the move of the position from `from` to `to`. Call `beat`
 * after each step that made progress: it shows that the loop is alive, however long the batch takes.
 */
export type ApplyMicroBatch = (batch: MicroBatch, signal: AbortSignal, beat: () => void) => Promise<Outcome>
