/**
 * The messages between front doors and workers. A stream entry carries one group of requests, or a single batch
 * request. An answer message carries the answers of one micro-batch for one front door.
 */
import type { EventFact, IdentifyFact, InterpretedType, Source, Subscriptions } from '../rules/events/facts.ts'
import type { Fault } from '../rules/faults.ts'
import type { PersonRequest, TrackRequest } from '../rules/item.ts'
import type { Effects } from '../rules/effects.ts'
import type { Touches, WebHit } from '../rules/visitors/web-facts.ts'

/** The fields of every request. `n` is the number that the front door gave the request; the answer repeats it. */
interface RequestBase {
  n: number
  businessId: string
  receivedAt: number
  requestId: string
  /** The id of the dead letter that this request replays. The save that applies the request deletes it. */
  replayOf?: string
}

/** Past events. `index` is the position in the caller's array; the rows that the front door refused are left out. */
export interface BatchRequest extends RequestBase {
  kind: 'batch'
  items: { index: number; fact: EventFact }[]
}
/** People from a list of the caller. `index` as in BatchRequest. */
export interface IdentifyBatchRequest extends RequestBase {
  kind: 'identify_batch'
  items: { index: number; fact: IdentifyFact }[]
}
/**
 * Events that the browser script captured. No worker answers the request: it counts as received once it is in the
 * stream.
 */
export interface CaptureRequest extends RequestBase {
  kind: 'capture'
  visitorId: string
  hits: WebHit[]
  touches: Touches
}
/** Past events are in batch requests only. */
type LiveRequest = Exclude<PersonRequest, TrackRequest> | (TrackRequest & { source: Exclude<Source, 'batch'> })

export type IngestRequest = (LiveRequest & RequestBase) | BatchRequest | IdentifyBatchRequest | CaptureRequest

/** Kinds that need a micro-batch of their own: neither earlier nor later requests are decided together with them. */
export const TRAVEL_ALONE: ReadonlySet<IngestRequest['kind']> = new Set(['erase', 'edit'])

/** Kinds whose requests have many items. Each request is an entry of its own. */
export const BATCH_KINDS = ['batch', 'identify_batch'] as const satisfies IngestRequest['kind'][]
type BatchKind = (typeof BATCH_KINDS)[number]

export const isBatch = <R extends { kind: string }>(request: R): request is Extract<R, { kind: BatchKind }> =>
  BATCH_KINDS.some((kind) => kind === request.kind)

/** One group of requests from one front door. `frontDoor` names the channel for the answers. */
export interface Entry {
  frontDoor: string
  requests: IngestRequest[]
}

export interface TrackAnswer {
  contactId: string
  isNew: boolean
  deduped: boolean
  interpreted: { type: InterpretedType; countedRevenue: number }
  /** All warnings, those of the front door first. */
  warnings: string[]
  effects?: Effects
}
/** `contactId` is null while the visitor is anonymous. The front door interprets the event itself. */
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
export type IdentifyItemAnswer =
  | { index: number; isNew: boolean; warnings: string[] }
  /** The item could not be applied; it is kept as a dead letter. */
  | { index: number; error: string }
export interface IdentifyBatchAnswer {
  items: IdentifyItemAnswer[]
}
export interface IdentifyAnswer {
  contactId: string
  isNew: boolean
  linkedVisitor: boolean
  subscriptions: Subscriptions
  warnings: string[]
  effects?: Effects
}
/** `contactId` is the survivor; null when the contact is unknown, erased, or belongs to another business. */
export interface ContactAnswer {
  contactId: string | null
  /** Erasures only: every id that was erased, the survivor first. */
  erasedIds?: string[]
  subscriptions?: Subscriptions
  /** Choices only: then nothing was changed. */
  issues?: Fault[]
  warnings?: string[]
}
/** `contactId` as in ContactAnswer. If there are `issues`, nothing was changed. */
export interface EditAnswer {
  contactId: string | null
  issues?: Fault[]
  warnings: string[]
}
/** No caller waits for this answer. */
export interface WebTriggerAnswer {
  contactId: string | null
  warnings: string[]
}
/** The request was not applied and is kept as a dead letter. */
export interface FailedAnswer {
  failed: true
  /** Set when the business is inactive (`business_inactive`). Absent: `internal`. */
  inactive?: true
}
export type WorkerAnswer =
  | TrackAnswer
  | BrowserAnswer
  | BatchAnswer
  | IdentifyAnswer
  | IdentifyBatchAnswer
  | ContactAnswer
  | EditAnswer
  | WebTriggerAnswer
  | FailedAnswer

/**
 * The answers of one micro-batch for one front door. `position` is the partition's committed stream id (the new floor).
 */
export interface AnswerMessage {
  partition: string
  position: string
  answers: [n: number, answer: WorkerAnswer][]
}
