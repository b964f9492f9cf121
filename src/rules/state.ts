/**
 * What the rules know when they decide: the part of Postgres that one micro-batch touches, as `load-state.ts` read it.
 * Deciding changes this working copy as it goes, so that the second event of a batch sees what the first one did.
 */
import type { Channel, ConversionType, FieldType, IdentityKind, Profile } from './events/facts.ts'

/** A published campaign. */
export interface Campaign {
  id: string
  triggerEvent: string
  goalEvent: string | null
  canEnterAgain: boolean
}

/** An ad platform or webhook that conversions are sent to. */
export interface Destination {
  id: string
  /** The types that it wants. */
  types: ConversionType[]
}

/**
 * Whether what a page's `identify` says holds at once, or, of a contact that a keyed call has used, waits until a keyed
 * call confirms it.
 */
export const PAGE_IDENTIFY = ['open', 'confirmed'] as const
export type PageIdentify = (typeof PAGE_IDENTIFY)[number]

/** What a business has configured, at one version. */
export interface BusinessState {
  id: string
  configVersion: number
  /** Of an inactive one nothing is applied. */
  active: boolean
  fields: Map<string, FieldType>
  campaigns: Campaign[]
  /** The active ones. */
  destinations: Destination[]
  pageIdentify: PageIdentify
}

export interface HeldIdentity {
  kind: IdentityKind
  value: string
  /** A call with a secret key has sent it. */
  proven: boolean
}

export type EnrolmentEnd = 'finished' | 'converted' | 'stopped' | 'merged'
export interface EnrolmentState {
  id: string
  /** The contact that has it in Postgres. */
  contactId: string
  campaignId: string
  state: 'active' | EnrolmentEnd
  enrolledAt: number
  receivedAt: number
  endedAt: number | null
}

/** An opt-in (true) or opt-out (false), and when it was received: epoch milliseconds. */
export interface StoredConsent {
  subscribed: boolean
  at: number
}

/** How many browsers a contact lists, and how many wait, each up to the limit. Replaced, not changed. */
export interface BrowserCount {
  listed: number
  waiting: number
}

export interface ContactState {
  id: string
  businessId: string
  createdAt: number
  /** The version that the save asserts; null for a contact made in this batch. */
  version: number | null
  keyed: boolean
  /** As it was when the batch began. */
  stage: number
  identities: HeldIdentity[]
  profile: Profile
  /** The fields of the profile that a page filled, as a bit mask (fill-profile.ts). */
  pageFilled: number
  /** Filled only where the business has published campaigns. */
  enrolments: EnrolmentState[]
  /** When each goal event of a published campaign last happened. */
  goalLastAt: Map<string, number>
  subscriptions: Partial<Record<Channel, StoredConsent>>
  /** While they are few, how many there are at most; of many, all of them, or null when they were not read. */
  tags: Set<string> | number | null
  /** Keys of traits that were cleared and have no field; null when they were not read. */
  cleared: Set<string> | null
  /** Null when they were not counted. */
  browsers: BrowserCount | null
  /** Ids that had been merged into it; filled only where a request names the contact. */
  mergedIds: string[]
}

export interface RecordedKey {
  occurredAt: number
  /** Set when the person of the recorded event was erased: the id it was erased as. */
  erasedAs: string | null
  /** Tags that were removed from its contact since. */
  removedTags?: string[]
}

/** From `fromAt` until the next link begins, the visitor belongs to this contact. */
export interface VisitorLink {
  /** Epoch ms. */
  fromAt: number
  /** Null: it belongs to no contact for that time, or the link waits. */
  contactId: string | null
  /** When the contact was identified, in epoch ms: later than `fromAt` where what came before is theirs too. */
  identifiedAt: number
  /** The contact that a call without a secret key has named, until a keyed call names the visitor; null: the link does not wait. */
  waitsFor: string | null
}

/** How a contact lists a visitor. */
export interface Listing {
  /** A keyed call has named the browser for the contact. */
  keyed: boolean
  /** It is not listed until a keyed call does. */
  waits: boolean
}

/** Events of one name that wait with a browser. */
export interface KeptEvents extends Statistic {
  /** Of the one that was received last, in epoch ms. */
  receivedAt: number
}

export interface VisitorState {
  businessId: string
  visitorId: string
  /** The contact that identified this visitor last; null while it is not identified, and while its newest link waits. */
  current: string | null
  /** Too many contacts were identified with it: it belongs to none of them, for good. */
  crowded: boolean
  /** Some of its links wait. */
  waits: boolean
  /** The latest link; null when it never belonged to a contact. */
  newest: VisitorLink | null
  /** Its links, as far as its events and late identifications ask, in order of time; of the newest, that very object. */
  links: VisitorLink[]
  /** Until when it belonged to a contact that has been erased since, in epoch ms; null when there is none. */
  erasedUntil: number | null
  /** The contacts that list it, unless it is crowded; filled only where the batch may identify it. */
  listedBy: Map<string, Listing>
  /** Times of its events, in epoch ms, at which a person used it who has been erased since. */
  erasedAt: Set<number>
  /** Its events from before it was identified, by event name; filled only where the batch may identify it. */
  history: Map<string, KeptEvents>
}

/** Keys of the maps: see `identityKey` and `scopedKey`. */
export interface State {
  businesses: Map<string, BusinessState>
  contacts: Map<string, ContactState>
  owners: Map<string, string>
  keys: Map<string, RecordedKey>
  visitors: Map<string, VisitorState>
  /** Losing id to surviving id, of the merges of this batch. */
  mergedInto: Map<string, string>
}

export const scopedKey = (businessId: string, key: string) => `${businessId} ${key}`
export const identityKey = (businessId: string, kind: IdentityKind, value: string) => `${businessId} ${kind} ${value}`

export function emptyState(): State {
  return {
    businesses: new Map(),
    contacts: new Map(),
    owners: new Map(),
    keys: new Map(),
    visitors: new Map(),
    mergedInto: new Map(),
  }
}

/** The contact that an id stands for now, merges of this batch included. */
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

/** Whether what a page says about this contact waits until a keyed call confirms it (decisions, `confirmed`). */
export function waitsForKey(state: State, { keyed, businessId }: ContactState): boolean {
  return keyed && state.businesses.get(businessId)?.pageIdentify === 'confirmed'
}

export function customerIdOf(contact: ContactState): HeldIdentity | undefined {
  return contact.identities.find((held) => held.kind === 'platformCustomerId')
}

export interface Statistic {
  firstAt: number
  lastAt: number
  count: number
}
