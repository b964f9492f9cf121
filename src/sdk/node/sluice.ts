/** `@sluice/node`: events and people to Sluice, from a server. Whatever happens to the network, the caller goes on. */
import { openClient } from './client.ts'
import type {
  BatchEvent,
  BatchOptions,
  BatchResult,
  DeliveryResult,
  EventInput,
  IdentifyInput,
  SluiceOptions,
  TrackNowOptions,
} from './types.ts'

export type * from './types.ts'

/** A client of one business. Its functions need no `this`: they may be passed on by themselves. */
export class Sluice {
  /** Queues an event and returns at once; never throws. It happened now, unless `occurredAt` says when. */
  declare readonly track: (input: EventInput) => void

  /** Queues an identification and returns at once; never throws. */
  declare readonly identify: (input: IdentifyInput) => void

  /** Sends an event, after what is queued for the same person, and resolves with what became of it. */
  declare readonly trackNow: (input: EventInput, options?: TrackNowOptions) => Promise<DeliveryResult>

  /**
   * Sends past events, any number, in requests of up to 500, and resolves with what became of them. Rejects with TypeError
   * when one has a `visitorId` (an array is looked through before anything is sent, all else request by request), and with
   * what `events` or `onProgress` throws.
   */
  declare readonly trackBatch: (
    events: Iterable<BatchEvent> | AsyncIterable<BatchEvent>,
    options?: BatchOptions,
  ) => Promise<BatchResult>

  /** Resolves when all that is queued now is delivered or given up. */
  declare readonly flush: () => Promise<void>

  /**
   * Takes no more calls, and resolves when all that are queued are delivered or given up; what is left after `deadlineMs`
   * (10,000) is given up then. A `trackBatch` goes on: it has a signal of its own.
   */
  declare readonly close: (deadlineMs?: number) => Promise<void>

  /** Throws TypeError when there is no key or address, or an option makes no sense. */
  constructor(options: SluiceOptions = {}) {
    Object.assign(this, openClient(options))
  }
}
