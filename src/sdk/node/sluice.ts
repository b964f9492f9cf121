/** `@sluice/node`: sends events and people to Sluice from a server. Network problems never affect the caller. */
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

/** A client for one business. Its functions do not use `this`, so they can be passed on separately. */
export class Sluice {
  /** Queues an event and returns at once; never throws. The event's time is now, unless `occurredAt` is given. */
  declare readonly track: (input: EventInput) => void

  /** Queues an identification and returns at once; never throws. */
  declare readonly identify: (input: IdentifyInput) => void

  /** Sends an event after the queued calls about the same person, and resolves with its outcome. */
  declare readonly trackNow: (input: EventInput, options?: TrackNowOptions) => Promise<DeliveryResult>

  /**
   * Sends any number of past events in requests of up to 500, and resolves with their outcomes. Rejects with TypeError
   * when an event has a `visitorId` (an array is checked before anything is sent, other sources request by request).
   * Also rejects with any error that `events` or `onProgress` throws.
   */
  declare readonly trackBatch: (
    events: Iterable<BatchEvent> | AsyncIterable<BatchEvent>,
    options?: BatchOptions,
  ) => Promise<BatchResult>

  /** Resolves when all calls that are queued now have been delivered or given up. */
  declare readonly flush: () => Promise<void>

  /**
   * Accepts no more calls, and resolves when all queued ones have been delivered or given up. Calls that remain after
   * `deadlineMs` (default: 10,000) are given up. A running `trackBatch` continues; it has its own signal.
   */
  declare readonly close: (deadlineMs?: number) => Promise<void>

  /** Throws TypeError when the key or the address is missing, or an option is invalid. */
  constructor(options: SluiceOptions = {}) {
    Object.assign(this, openClient(options))
  }
}
