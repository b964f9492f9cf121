/** What could not be applied, as Postgres keeps it until an operator has seen to it (dead-letter.ts). */
import { uuidv7 } from 'uuidv7'
import { sanitiseText } from '../rules/events/text.ts'
import type { Request } from './entry.ts'
import type { MicroBatch, PoisonedEntry } from './micro-batch.ts'

/** Why what an inactive business has waiting is not applied. */
export const INACTIVE = 'the business is inactive'

/** A row of `dead_letters`, but for the partition. */
export interface DeadLetterRecord {
  id: string
  /** Null when the entry names none. */
  business_id: string | null
  stream_id: string
  kind: string
  reason: string
  /** The request as it travelled, or the text that could not be read. */
  payload: string
  /** Epoch ms. */
  received_at: number | null
  /** Set when it failed in a search for poison: a hash of its contact, or its business where all of that was set aside. */
  suspect: string | null
}

/** Of a request that can be replayed: with the one item, where it has several. */
export function composeDeadLetter(
  streamId: string,
  request: Request,
  reason: string,
  suspect: string | null = null,
): DeadLetterRecord {
  const { kind, businessId, receivedAt } = request
  return compose({ streamId, kind, businessId, reason, payload: JSON.stringify(request), receivedAt, suspect })
}

export function composeUnreadable(poisoned: PoisonedEntry): DeadLetterRecord {
  return compose({ ...poisoned, kind: 'unreadable', receivedAt: null, suspect: null })
}

/** The dead letters that are applied with this micro-batch. */
export function replayedBy({ requests }: MicroBatch): string[] {
  return requests.flatMap(({ request }) => knownId(request.replayOf) ?? [])
}

type Described = PoisonedEntry & { kind: string; receivedAt: number | null; suspect: string | null }

function compose({ streamId, kind, businessId, reason, payload, receivedAt, suspect }: Described): DeadLetterRecord {
  return {
    id: uuidv7(),
    business_id: knownId(businessId),
    stream_id: streamId,
    kind,
    // Postgres holds neither NUL nor a lone surrogate, and a reason can name a key of the entry.
    reason: sanitiseText(reason).text,
    payload: sanitiseText(payload).text,
    received_at: receivedAt,
    suspect,
  }
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** An entry that no front door wrote may name anything: null when it is not an id. */
const knownId = (text: string | undefined) => (text !== undefined && UUID.test(text) ? text : null)
