/** One thing to decide. A request in the stream is one item; a batch request is many. */
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

interface ItemBase {
  businessId: string
  /** Time of receipt, in epoch ms: "now" for every rule. */
  receivedAt: number
}
export interface EventItem extends ItemBase {
  kind: 'event'
  keyed: boolean
  /** True for a replayed dead letter. */
  isReplay: boolean
  source: Source
  fact: EventFact
  wantsEffects?: boolean
}
export interface BrowserItem extends ItemBase {
  kind: 'browser'
  /** True for a replayed dead letter. */
  isReplay: boolean
  fact: BrowserFact
}
export interface IdentifyItem extends ItemBase {
  kind: 'identify'
  keyed: boolean
  /** True for a replayed dead letter. */
  isReplay: boolean
  /** True in a batch: segments that the contact enters start no campaign. */
  isPast?: boolean
  /** True when the addresses become primary. */
  makesPrimary?: boolean
  fact: IdentifyFact
  wantsEffects?: boolean
}
export interface SubscribeItem extends ItemBase {
  kind: 'subscribe'
  contactId: string
  channels: Partial<Subscriptions>
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
  /** True for a replayed dead letter. */
  isReplay: boolean
}
export interface EraseItem extends ItemBase {
  kind: 'erase'
  contactId: string
}
/** The position of an enrolment. Each step occurs once per enrolment. */
export interface CampaignStep {
  enrolmentId: string
  stepId: string
}
export interface EditItem extends ItemBase {
  kind: 'edit'
  contactId: string
  fact: EditFact
  /** The campaign step that makes the edit. */
  step?: CampaignStep
  /** True for a replayed dead letter: values that were stored since then are newer. */
  isReplay: boolean
}
export interface MessageEventItem extends ItemBase {
  kind: 'message_event'
  contactId: string
  fact: MessageEventFact
  /** True for a replayed dead letter. */
  isReplay: boolean
}
export interface WebTriggerItem extends ItemBase {
  kind: 'web_trigger'
  fact: WebTriggerFact
  /** True for a replayed dead letter. */
  isReplay: boolean
}
export type Item =
  | EventItem
  | BrowserItem
  | IdentifyItem
  | SubscribeItem
  | EditItem
  | MessageEventItem
  | WebTriggerItem
  | EraseItem

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
