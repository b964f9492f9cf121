/** One thing to decide. A request of the stream is one item; a batch request is many. */
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
  /** Epoch ms of the receipt: "now" for every rule. */
  receivedAt: number
}
export interface EventItem extends ItemBase {
  kind: 'event'
  keyed: boolean
  /** A replayed dead letter. */
  isReplay: boolean
  source: Source
  fact: EventFact
  wantsEffects?: boolean
}
export interface BrowserItem extends ItemBase {
  kind: 'browser'
  /** A replayed dead letter. */
  isReplay: boolean
  fact: BrowserFact
}
export interface IdentifyItem extends ItemBase {
  kind: 'identify'
  keyed: boolean
  /** A replayed dead letter. */
  isReplay: boolean
  fact: IdentifyFact
  wantsEffects?: boolean
}
export interface SubscribeItem extends ItemBase {
  kind: 'subscribe'
  contactId: string
  channels: Partial<Subscriptions>
  method: string
  /** A channel whose choice is the same already is left as it is. */
  changesOnly?: boolean
  /** Epoch ms: a channel that is named here is left as it is unless its choice of that instant is still the latest. */
  replaces?: Partial<Record<Channel, number>>
  /** Epoch ms: when it was chosen, if that was in the past. A later choice stays. */
  at?: number
  /** An email address that the choice proves to be the contact's. Without it nothing is recorded. */
  proves?: string
  /** A replayed dead letter. */
  isReplay: boolean
}
export interface EraseItem extends ItemBase {
  kind: 'erase'
  contactId: string
}
/** Where an enrolment is. Each step comes once in an enrolment. */
export interface CampaignStep {
  enrolmentId: string
  stepId: string
}
export interface EditItem extends ItemBase {
  kind: 'edit'
  contactId: string
  fact: EditFact
  /** Of the campaign that makes the edit. */
  step?: CampaignStep
  /** A replayed dead letter: what was stored since is newer. */
  isReplay: boolean
}
export interface MessageEventItem extends ItemBase {
  kind: 'message_event'
  contactId: string
  fact: MessageEventFact
  /** A replayed dead letter. */
  isReplay: boolean
}
export interface WebTriggerItem extends ItemBase {
  kind: 'web_trigger'
  fact: WebTriggerFact
  /** A replayed dead letter. */
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
/** `contactId` is the survivor; null when the business has no such contact. With `issues` nothing was changed. */
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
/** `contactId` is null: nobody waits for the decision. */
export interface WebTriggerDecision {
  contactId: string | null
  warnings: string[]
}
export interface EraseDecision {
  contactId: string | null
  /** All ids of the person, the present one first. */
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
