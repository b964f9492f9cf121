/**
 * The state for the rules: the part of Postgres that one micro-batch needs, as `load-state.ts` read it. Each decision
 * changes this working copy, so that the second event of a batch sees the effects of the first.
 */
import type { Channel, IdentityKind, Profile } from './events/facts.ts'
import type { ContactIdentity, Statistic, StoredConsent } from './contact-parts.ts'
import { ScopedMap } from './scoped-map.ts'
import type { SeenEvent } from './segments/compile/compile-where.ts'
import type { WatchedFacts } from './segments/membership/watched-facts.ts'
import type { TopicChoices } from './topics/topic.ts'
import type { BusinessState } from './business-state.ts'

export type { ContactIdentity, Statistic, StoredConsent } from './contact-parts.ts'

export type EnrolmentEnd = 'finished' | 'converted' | 'stopped' | 'merged'
export interface EnrolmentState {
  id: string
  /** The contact that has the enrolment in Postgres. */
  contactId: string
  campaignId: string
  /** Null for an enrolment without steps. */
  version: number | null
  state: 'active' | EnrolmentEnd
  enrolledAt: number
  receivedAt: number
  endedAt: number | null
  /** The first enrolment of the chain that this one belongs to. Null when it is the first itself. */
  chain: string | null
  /** What it is about, such as an order. Null: the contact. */
  key: string | null
  /** The key is a text of a page that messages must not contain. Only of new enrolments. */
  isKeyHidden?: boolean
}

/** What is remembered of a campaign and a key. */
export interface PastOfKey {
  /** Whether an ended enrolment has the key. */
  wasEntered: boolean
  /** The last time of the goal, in epoch milliseconds. Null: never. */
  goalAt: number | null
}

/**
 * Number of browsers that a contact lists, and number that wait, each counted up to the limit. Immutable: replaced, not
 * changed.
 */
export interface BrowserCount {
  listed: number
  waiting: number
}

export interface ContactState {
  id: string
  businessId: string
  createdAt: number
  /** The version that the save asserts; null for a contact created in this batch. */
  version: number | null
  keyed: boolean
  /** The stage at the start of the batch. */
  stage: number
  identities: ContactIdentity[]
  profile: Profile
  /** The fields of the profile that a page filled, as a bit mask (fill-profile.ts). */
  pageFilled: number
  /** Loaded only if the business has ever published a campaign. Of those with keys, the active ones. */
  enrolments: EnrolmentState[]
  /**
   * By `pastKey`, for the keys that the batch names. For a goal whose conditions ignore the key, `ANY_KEY` stands for
   * it: that is loaded with the contact.
   */
  pastOfKeys: Map<string, PastOfKey>
  /** The last time of each goal event of a published campaign. */
  goalLastAt: Map<string, number>
  subscriptions: Partial<Record<Channel, StoredConsent>>
  /** The choices within channels. Loaded only if the business has topics. */
  topics: TopicChoices
  /** With few tags, an upper bound of their number. With many, the tags themselves, or null when they were not read. */
  tags: Set<string> | number | null
  /** Keys of traits that were cleared and have no field; null when they were not read. */
  cleared: Set<string> | null
  /** Null when the browsers were not counted. */
  browsers: BrowserCount | null
  /** Ids that were merged into it; loaded only when a request names the contact. */
  mergedIds: string[]
  /** The facts that the segments of its business read; null when they were not read. */
  facts: WatchedFacts | null
}

export interface RecordedKey {
  occurredAt: number
  /** The name of the recorded event; null when it is not known. */
  event: string | null
  /** The id under which the person of the recorded event was erased; null when the person was not erased. */
  erasedAs: string | null
  /** Tags that were removed from its contact since then. */
  removedTags?: string[]
}

/** The browser belongs to this contact from `fromAt` until the next link begins. */
export interface VisitorLink {
  /** Epoch ms. */
  fromAt: number
  /** Null when the browser has no contact for that time, or when the link waits. */
  contactId: string | null
  /**
   * Time when the contact was identified, in epoch ms. It is later than `fromAt` when the contact also owns earlier
   * history.
   */
  identifiedAt: number
  /**
   * The contact that a call without a secret key named. The link waits until a keyed call names the browser. Null when
   * it does not wait.
   */
  waitsFor: string | null
}

/** A browser in the list of a contact. */
export interface BrowserListing {
  /** True when a keyed call has named the browser for the contact. */
  keyed: boolean
  /** True when the browser is not shown in the list until a keyed call names it. */
  waits: boolean
}

/** Events of one name that are stored with a browser until it has a contact. */
export interface VisitorEventStatistic extends Statistic {
  /** Time of receipt of the last event, in epoch ms. */
  receivedAt: number
}

export interface VisitorState {
  businessId: string
  visitorId: string
  /** The contact that was identified last in this browser; null before the first, and while the newest link waits. */
  current: string | null
  /** True when too many contacts were identified in it: the browser permanently has no contact. */
  crowded: boolean
  /** True when at least one of its links waits. */
  waits: boolean
  /** The latest link in time; null when it never had one. */
  newest: VisitorLink | null
  /**
   * The links needed for its events and late identifications, in order of time. The newest is the same object as
   * `newest`.
   */
  links: VisitorLink[]
  /** The last time that it belonged to a contact that has since been erased, in epoch ms; null when there is none. */
  erasedUntil: number | null
  /** The contacts that list it, while it is not crowded. Loaded only when an item may identify it. */
  listedBy: Map<string, BrowserListing>
  /** Times of its events, in epoch ms, at which it belonged to a contact that has since been erased. */
  erasedAt: Set<number>
  /** Its events without a contact, by event name. Loaded only when an item may identify it. */
  history: Map<string, VisitorEventStatistic>
  /** Those of them that goals and steps with conditions compare, in order of receipt. Absent: there are none. */
  compared?: readonly ComparedEvent[]
}

/** An event of a browser from before it had a contact. Times are epoch ms. */
export interface ComparedEvent {
  event: string
  seen: SeenEvent
  occurredAt: number
  receivedAt: number
}

export type ByIdentity<Value> = Record<IdentityKind, ScopedMap<Value>>

export const byIdentity = <Value>(): ByIdentity<Value> => ({
  platformCustomerId: new ScopedMap(),
  email: new ScopedMap(),
  phone: new ScopedMap(),
})

export interface State {
  businesses: Map<string, BusinessState>
  contacts: Map<string, ContactState>
  /** Contact ids by identity. */
  owners: ByIdentity<string>
  /** By idempotency key. */
  keys: ScopedMap<RecordedKey>
  /** By `scopedKey`. */
  visitors: Map<string, VisitorState>
  /** The steps at which enrolments wait for an edit in this batch, by enrolment. */
  stepsToApply: Map<string, string>
  /** From losing id to surviving id, for the merges of this batch. */
  mergedInto: Map<string, string>
}

export const pastKey = (campaignId: string, key: string) => `${campaignId} ${key}`
export const scopedKey = (businessId: string, key: string) => `${businessId} ${key}`
export const identityKey = (businessId: string, kind: IdentityKind, value: string) => `${businessId} ${kind} ${value}`

export function emptyState(): State {
  return {
    businesses: new Map(),
    contacts: new Map(),
    owners: byIdentity(),
    keys: new ScopedMap(),
    visitors: new Map(),
    stepsToApply: new Map(),
    mergedInto: new Map(),
  }
}

/** Returns the id of the survivor, after the merges of this batch. */
export function survivorOf(state: State, contactId: string): string {
  let id = contactId
  for (let next = state.mergedInto.get(id); next !== undefined; next = state.mergedInto.get(id)) id = next
  return id
}

export function contactOf(state: State, contactId: string): ContactState {
  const contact = state.contacts.get(survivorOf(state, contactId))
  if (!contact) throw new Error(`contact ${contactId} was not loaded`)
  return contact
}

/** Returns whether a page's data for this contact waits until a keyed call confirms it (decisions, `confirmed`). */
export function waitsForKey(state: State, { keyed, businessId }: ContactState): boolean {
  return keyed && state.businesses.get(businessId)?.pageIdentify === 'confirmed'
}

export function customerIdOf(contact: ContactState): ContactIdentity | undefined {
  return contact.identities.find((existing) => existing.kind === 'platformCustomerId')
}
