/**
 * What travels through the streams between the front door and the workers. One stream entry carries one group of requests
 * (or one batch request by itself); one answer message carries the answers of one micro-batch for one front door.
 */
import type {
  BrowserFact,
  EditFact,
  EventFact,
  IdentifyFact,
  InterpretedType,
  Source,
  Subscriptions,
} from '../rules/events/facts.ts'
import type { Touches, WebHit } from '../rules/visitors/web-facts.ts'

/** What every request carries. `n` is the front door's own number for it, echoed by the answer. */
interface RequestBase {
  n: number
  businessId: string
  /** Epoch ms, stamped by the front door on receipt. It is "now" for every rule. */
  receivedAt: number
  requestId: string
  /** Set when an operator replays a dead letter: its id, deleted in the save that applies it. */
  replayOf?: string
}

/** One live event. `keyed`: sent with a secret key. */
export interface TrackRequest extends RequestBase {
  kind: 'track'
  keyed: boolean
  source: Exclude<Source, 'batch'>
  fact: EventFact
}
/** An event of a page, sent without a secret key. */
export interface BrowserRequest extends RequestBase {
  kind: 'browser'
  fact: BrowserFact
}
/** Past events; `index` is the position in the caller's array (the rows that the front door refused are left out). */
export interface BatchRequest extends RequestBase {
  kind: 'batch'
  items: { index: number; fact: EventFact }[]
}
export interface IdentifyRequest extends RequestBase {
  kind: 'identify'
  keyed: boolean
  fact: IdentifyFact
}
export interface EraseRequest extends RequestBase {
  kind: 'erase'
  contactId: string
}
export interface SubscribeRequest extends RequestBase {
  kind: 'subscribe'
  contactId: string
  channels: Partial<Subscriptions>
  method: string
}
/** What an operator sets of a contact. */
export interface EditRequest extends RequestBase {
  kind: 'edit'
  contactId: string
  fact: EditFact
}
/** What one browser captured by itself. No worker answers it: it counts as received once it is in the stream. */
export interface CaptureRequest extends RequestBase {
  kind: 'capture'
  visitorId: string
  hits: WebHit[]
  touches: Touches
}
export type Request =
  | TrackRequest
  | BrowserRequest
  | BatchRequest
  | IdentifyRequest
  | EraseRequest
  | SubscribeRequest
  | EditRequest
  | CaptureRequest

/** A micro-batch each: what came before is not decided beside it, nor what came after. */
export const TRAVEL_ALONE: ReadonlySet<Request['kind']> = new Set(['erase', 'edit'])

/** One group of requests of one front door; `frontDoor` names the channel that the answers go to. */
export interface Entry {
  frontDoor: string
  requests: Request[]
}

export interface TrackAnswer {
  contactId: string
  isNew: boolean
  deduped: boolean
  interpreted: { type: InterpretedType; countedRevenue: number }
  /** All of them, the front door's first; empty when there is nothing to say. */
  warnings: string[]
}
/** `contactId` is null while nobody has identified the visitor. What the event means the front door knows itself. */
export interface BrowserAnswer {
  contactId: string | null
  deduped: boolean
  warnings: string[]
}
export type BatchItemAnswer =
  | { index: number; deduped: boolean; warnings: string[] }
  /** The item could not be applied; it is kept as a dead letter. */
  | { index: number; error: string }
export interface BatchAnswer {
  items: BatchItemAnswer[]
}
export interface IdentifyAnswer {
  contactId: string
  isNew: boolean
  linkedVisitor: boolean
  subscriptions: Subscriptions
  warnings: string[]
}
/** `contactId` is the survivor; null when the contact is unknown, erased, or another business's. */
export interface ContactAnswer {
  contactId: string | null
  /** Of an erasure: every id that was erased, the survivor first. */
  erasedIds?: string[]
  subscriptions?: Subscriptions
}
/** `contactId` as in ContactAnswer. With `issues` nothing was changed. */
export interface EditAnswer {
  contactId: string | null
  issues?: { path: string; message: string }[]
  warnings: string[]
}
/** The request was not applied and is kept as a dead letter. */
export interface FailedAnswer {
  failed: true
  /** The business is inactive: `business_inactive`. Absent: `internal`. */
  inactive?: true
}
export type Answer =
  | TrackAnswer
  | BrowserAnswer
  | BatchAnswer
  | IdentifyAnswer
  | ContactAnswer
  | EditAnswer
  | FailedAnswer

/** The answers of one micro-batch for one front door; `position` is the partition's committed stream id (the new floor). */
export interface AnswerMessage {
  partition: string
  position: string
  answers: [n: number, answer: Answer][]
}
