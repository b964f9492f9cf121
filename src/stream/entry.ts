/**
 * The messages between front doors and workers. A stream entry carries one group of requests, or a single batch
 * request. An answer message carries the answers of one micro-batch for one front door.
 */
import type {
  BrowserFact,
  Channel,
  EditFact,
  EventFact,
  IdentifyFact,
  InterpretedType,
  Source,
  Subscriptions,
} from '../rules/events/facts.ts'
import type { Fault } from '../rules/faults.ts'
import type { WebTriggerFact } from '../rules/campaigns/web-trigger-fact.ts'
import type { CampaignStep } from '../rules/item.ts'
import type { Effects } from '../rules/effects.ts'
import type { MessageEventFact } from '../rules/messages/message-event.ts'
import type { Touches, WebHit } from '../rules/visitors/web-facts.ts'

/** The fields of every request. `n` is the number that the front door gave the request; the answer repeats it. */
interface RequestBase {
  n: number
  businessId: string
  /** Epoch ms, set by the front door on receipt. Every rule uses it as the current time. */
  receivedAt: number
  requestId: string
  /** The id of the dead letter that this request replays. The save that applies the request deletes it. */
  replayOf?: string
}

/** One live event. `keyed`: sent with a secret key. */
export interface TrackRequest extends RequestBase {
  kind: 'track'
  keyed: boolean
  source: Exclude<Source, 'batch'>
  fact: EventFact
  /** True when the caller wants to know how the event changes its contact. */
  effects?: boolean
}
/** An event that a web page sent, without a secret key. */
export interface BrowserRequest extends RequestBase {
  kind: 'browser'
  fact: BrowserFact
}
/** Past events. `index` is the position in the caller's array; the rows that the front door refused are left out. */
export interface BatchRequest extends RequestBase {
  kind: 'batch'
  items: { index: number; fact: EventFact }[]
}
export interface IdentifyRequest extends RequestBase {
  kind: 'identify'
  keyed: boolean
  fact: IdentifyFact
  /** True for a live call with a secret key: its addresses become primary. */
  makesPrimary?: boolean
  effects?: boolean
}
/** People from a list of the caller. `index` as in BatchRequest. */
export interface IdentifyBatchRequest extends RequestBase {
  kind: 'identify_batch'
  items: { index: number; fact: IdentifyFact }[]
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
  /** As in SubscribeItem. */
  changesOnly?: boolean
  replaces?: Partial<Record<Channel, number>>
  at?: number
  proves?: string
}
/** Fields of a contact that an operator or a campaign step sets. */
export interface EditRequest extends RequestBase {
  kind: 'edit'
  contactId: string
  fact: EditFact
  /** With a step, the edit applies only while the enrolment waits at this step. */
  step?: CampaignStep
}
/** What a person did with a message. */
export interface MessageEventRequest extends RequestBase {
  kind: 'message_event'
  contactId: string
  fact: MessageEventFact
}
/** Browser activity that can start campaigns. */
export interface WebTriggerRequest extends RequestBase {
  kind: 'web_trigger'
  fact: WebTriggerFact
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
export type IngestRequest =
  | TrackRequest
  | BrowserRequest
  | BatchRequest
  | IdentifyRequest
  | IdentifyBatchRequest
  | EraseRequest
  | SubscribeRequest
  | EditRequest
  | MessageEventRequest
  | WebTriggerRequest
  | CaptureRequest

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
