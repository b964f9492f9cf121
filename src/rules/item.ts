/** Requests about one person, and what the rules decide of them. */
import type {
  BrowserFact,
  Channel,
  EditFact,
  EventFact,
  IdentifyFact,
  InterpretedType,
  Source,
  Subscriptions,
} from './events/facts.ts'
import type { WebTriggerFact } from './campaigns/web-trigger-fact.ts'
import type { Effects } from './effects.ts'
import type { Fault } from './faults.ts'
import type { MessageEventFact } from './messages/message-event.ts'

interface RequestBase {
  businessId: string
  /** Epoch ms, set by the front door on receipt. Every rule uses it as the current time. */
  receivedAt: number
}
/** One event. `keyed`: sent with a secret key. */
export interface TrackRequest extends RequestBase {
  kind: 'track'
  keyed: boolean
  source: Source
  fact: EventFact
  /** True when the caller wants to know how the event changes its contact. */
  effects?: boolean
}
/** An event that a web page sent, without a secret key. */
export interface BrowserRequest extends RequestBase {
  kind: 'browser'
  fact: BrowserFact
}
export interface IdentifyRequest extends RequestBase {
  kind: 'identify'
  keyed: boolean
  fact: IdentifyFact
  /** True for a live call with a secret key: its addresses become primary. */
  makesPrimary?: boolean
  effects?: boolean
}
export interface SubscribeRequest extends RequestBase {
  kind: 'subscribe'
  contactId: string
  channels: Partial<Subscriptions>
  /** Choices within channels. All or nothing: an unknown topic refuses the request. */
  topics?: TopicChoice[]
  /** Who leaves the last topic of a channel opts out of the channel, too. */
  endsLast?: boolean
  /** Epoch ms. A topic whose latest choice is not older is left unchanged. */
  topicsAskedAt?: number
  method: string
  /** A channel that already has this choice is left unchanged. */
  changesOnly?: boolean
  /**
   * Epoch ms by channel. A channel listed here is left unchanged unless its latest choice is still the one of that
   * instant.
   */
  replaces?: Partial<Record<Channel, number>>
  /** Time of the choice in epoch ms, if it was in the past. A later choice stays. */
  at?: number
  /**
   * An email address that the choice proves to be the contact's. If the contact no longer has it, nothing is recorded.
   */
  proves?: string
}
export interface TopicChoice {
  topic: string
  channel: Channel
  subscribed: boolean
}
export interface EraseRequest extends RequestBase {
  kind: 'erase'
  contactId: string
}
/** The position of an enrolment. Each step occurs once per enrolment. */
export interface CampaignStep {
  enrolmentId: string
  stepId: string
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
export type PersonRequest =
  | TrackRequest
  | BrowserRequest
  | IdentifyRequest
  | SubscribeRequest
  | EditRequest
  | MessageEventRequest
  | WebTriggerRequest
  | EraseRequest

/** One thing to decide: a request, or one item of a batch request. */
export type Item<Of extends PersonRequest = PersonRequest> = Of & {
  /** The position in the caller's array; null outside a batch. Items of a batch are about the past. */
  index: number | null
  /** True for a replayed dead letter: values that were stored since then are newer. */
  isReplay: boolean
}

export interface EventDecision {
  contactId: string
  isNew: boolean
  deduped: boolean
  interpreted: { type: InterpretedType; countedRevenue: number }
  warnings: string[]
  effects?: Effects
}
/** `contactId` is null while the visitor has no contact. */
export interface BrowserDecision {
  contactId: string | null
  deduped: boolean
  warnings: string[]
}
export interface IdentifyDecision {
  contactId: string
  isNew: boolean
  linkedVisitor: boolean
  subscriptions: Subscriptions
  warnings: string[]
  effects?: Effects
}
/** `contactId` is the survivor; null when the business has no such contact. */
export interface SubscribeDecision {
  contactId: string | null
  subscriptions?: Subscriptions
  /** Then nothing was changed. */
  issues?: Fault[]
  warnings?: string[]
}
/**
 * `contactId` is the survivor; null when the business has no such contact. If there are `issues`, nothing was changed.
 */
export interface EditDecision {
  contactId: string | null
  issues?: Fault[]
  warnings: string[]
}
/** `contactId` is the survivor; null when the business has no such contact. */
export interface MessageEventDecision {
  contactId: string | null
  deduped: boolean
  warnings: string[]
}
/** `contactId` is null: no caller waits for the decision. */
export interface WebTriggerDecision {
  contactId: string | null
  warnings: string[]
}
export interface EraseDecision {
  contactId: string | null
  /** All ids of the person, the current one first. */
  erasedIds?: string[]
}
export type Decision =
  | EventDecision
  | BrowserDecision
  | IdentifyDecision
  | SubscribeDecision
  | EditDecision
  | MessageEventDecision
  | WebTriggerDecision
  | EraseDecision
