/** The input of the save that a partition's loop calls, and its outcome. */
import type { WorkerAnswer, IngestRequest } from './entry.ts'
import type { Sender } from '../stores/wake-ups.ts'

export interface MicroBatch {
  partition: string
  epoch: number
  /** The committed position that this batch follows. */
  from: string
  /** The id of the last entry: the position once the batch is committed. */
  to: string
  requests: BatchedRequest[]
  /** True when entries may have been applied before, in commits that a failover of Postgres has lost. */
  repeated?: boolean
  poisoned: PoisonedEntry[]
}

export interface BatchedRequest {
  streamId: string
  frontDoor: string
  request: IngestRequest
}

/**
 * A request or entry that could not be read. The save that applies the rest of the batch stores it as a dead letter.
 */
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
  /** The partition has another owner. Nothing was written. */
  | { kind: 'fenced' }
  /** The signal aborted between two attempts. Nothing was written. */
  | { kind: 'stopped' }

/**
 * Applies one micro-batch, in the same transaction that moves the position from `from` to `to`. Calls `beat` after each
 * step that makes progress: it shows that the loop is alive, however long the batch takes.
 */
export type ApplyMicroBatch = (batch: MicroBatch, signal: AbortSignal, beat: () => void) => Promise<Outcome>
