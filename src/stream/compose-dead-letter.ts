/**
 * Composes dead letters: requests that could not be applied. Postgres keeps them until an operator handles them
 * (dead-letter.ts).
 */
import { uuidv7 } from 'uuidv7'
import { sanitiseText } from '../rules/events/text.ts'
import type { IngestRequest } from './entry.ts'
import type { MicroBatch, PoisonedEntry } from './micro-batch.ts'

/** Reason of the dead letters of an inactive business. */
export const INACTIVE = 'the business is inactive'

/** A row of `dead_letters`, without the partition. */
export interface DeadLetterRecord {
  id: string
  /** Null when the entry does not name a business. */
  business_id: string | null
  stream_id: string
  kind: string
  reason: string
  /** The request as the front door sent it, or the text that could not be read. */
  payload: string
  /** Epoch ms. */
  received_at: number | null
  /**
   * Set when the item was found by a search for poisoned items: a hash of its contact, or the business when all items
   * of the business were set aside.
   */
  suspect: string | null
}

/** Composes the dead letter of a request that can be replayed. Of a batch request, pass only the failed item. */
export function composeDeadLetter(
  streamId: string,
  request: IngestRequest,
  reason: string,
  suspect: string | null = null,
): DeadLetterRecord {
  const { kind, businessId, receivedAt } = request
  return compose({ streamId, kind, businessId, reason, payload: JSON.stringify(request), receivedAt, suspect })
}

export function composeUnreadable(poisoned: PoisonedEntry): DeadLetterRecord {
  return compose({ ...poisoned, kind: 'unreadable', receivedAt: null, suspect: null })
}

/** Returns the ids of the dead letters that this micro-batch replays. */
export function replayedBy({ requests }: MicroBatch): string[] {
  return requests.flatMap(({ request }) => uuidOrNull(request.replayOf) ?? [])
}

type DeadLetterInput = PoisonedEntry & { kind: string; receivedAt: number | null; suspect: string | null }

function compose({
  streamId,
  kind,
  businessId,
  reason,
  payload,
  receivedAt,
  suspect,
}: DeadLetterInput): DeadLetterRecord {
  return {
    id: uuidv7(),
    business_id: uuidOrNull(businessId),
    stream_id: streamId,
    kind,
    // Postgres cannot store NUL or a lone surrogate, and a reason can contain a key of the entry.
    reason: sanitiseText(reason).text,
    payload: sanitiseText(payload).text,
    received_at: receivedAt,
    suspect,
  }
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Returns null when the text is not an id: an entry that was not written by a front door can contain any text. */
export const uuidOrNull = (text: string | undefined) => (text !== undefined && UUID.test(text) ? text : null)
