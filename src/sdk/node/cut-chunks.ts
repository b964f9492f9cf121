/** Splits any number of events into chunks that fit into one request. */
import { reasonOf } from './answer.ts'
import { add, nothing } from './tally.ts'
import type { BatchEvent, BatchProgress } from './types.ts'
import { bytesOf, toPlain, withKey } from './write-json.ts'

export interface Item {
  /** Position among all events. */
  index: number
  json: string
}

/** Consecutive events with their outcomes. Initially only the events that cannot be sent have an outcome. */
export interface Chunk {
  items: Item[]
  /** Idempotency keys of the caller. */
  keys: Set<string>
  tally: BatchProgress
}

/** The service's limits for a batch. */
export const MAX_EVENTS = 500
const MAX_BODY_BYTES = 32 * 1024 * 1024
/** Preferred limit of a request. Many proxies refuse larger ones, and smaller ones are resent faster. */
const CUT_BYTES = 1_000_000
/** Bytes around the events, minus the comma that the last event does not need. */
const FRAME_BYTES = 12

export const writeBody = (items: Item[]): string => `{"events":[${items.map(({ json }) => json).join()}]}`

/** Throws TypeError for a `visitorId`. */
export async function* cutChunks(
  events: Iterable<BatchEvent> | AsyncIterable<BatchEvent>,
  size: number,
): AsyncGenerator<Chunk, undefined> {
  const cut = (): Chunk => ({ items: [], keys: new Set(), tally: nothing() })
  let chunk = cut()
  let sum = FRAME_BYTES
  let index = 0
  for await (const event of events) {
    refuseVisitor(event, index)
    const { json, key, bytes, error } = writeEvent(event)
    if (chunk.tally.settled >= size || (chunk.items.length > 0 && sum + bytes > CUT_BYTES)) {
      yield chunk
      chunk = cut()
      sum = FRAME_BYTES
    }
    if (key !== undefined) chunk.keys.add(key)
    if (json) chunk.items.push({ index, json })
    else add(chunk.tally, { failed: 1, failures: [{ index, error }] })
    chunk.tally.settled++
    sum += bytes
    index++
  }
  if (chunk.tally.settled > 0) yield chunk
}

/**
 * Throws TypeError for a `visitorId`: a batch never touches visitors (contract, "Backfill rules"), so the caller must
 * mean something else.
 */
export function refuseVisitor(event: BatchEvent, index: number): void {
  // Callers without types may pass anything.
  const { visitorId } = Object(event) as { visitorId?: unknown }
  if (visitorId != null) throw new TypeError(`Event ${index}: visitorId is not accepted in a batch`)
}

/** `bytes`: length including the comma. An empty `json` means that the event cannot be sent. */
function writeEvent(event: BatchEvent): { json: string; key?: string; bytes: number; error: string } {
  try {
    const plain = toPlain(event)
    const json = JSON.stringify(withKey(plain))
    const { idempotencyKey: own } = plain
    const bytes = bytesOf(json) + 1
    if (FRAME_BYTES + bytes > MAX_BODY_BYTES) throw new RangeError(`Larger than ${MAX_BODY_BYTES} bytes`)
    return { json, ...(typeof own === 'string' && { key: own.trim() }), bytes, error: '' }
  } catch (error) {
    return { json: '', bytes: 0, error: reasonOf(error) }
  }
}
