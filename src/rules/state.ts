/**
 * The state for the rules: the part of Postgres that one micro-batch needs, as `load-state.ts` read it. Each decision
 * changes this working copy, so that the second event of a batch sees the effects of the first.
 */
import type { Channel, ConversionType, FieldType, IdentityKind, Profile } from './events/facts.ts'
import type { ContactIdentity, Statistic, StoredConsent } from './contact-parts.ts'
import type { TriggerTest } from './campaigns/event-trigger.ts'
import type { WebTest, WebTriggerName } from './campaigns/web-trigger.ts'
import type { CompiledSegments, SegmentRule } from './segments/compile-segments.ts'
import type { WatchedFacts } from './segments/watched-facts.ts'

export type { ContactIdentity, Statistic, StoredConsent } from './contact-parts.ts'

/** Entering or leaving this segment starts a campaign. */
export interface SegmentTrigger {
  segmentId: string
  on: 'enter' | 'leave'
}

/** Where an enrolment begins. */
export interface FirstStep {
  id: string
  /** The event that it waits for, if it waits for one. */
  listensFor: string | null
}

/** A published campaign, or one that is paused. */
export interface Campaign {
  id: string
  /** Nobody enters. Goals, and the events that its steps wait for, are heard. */
  isPaused: boolean
  version: number
  /** Null without steps. */
  firstStep: FirstStep | null
  /** The event that starts it, the segment, or what browsers capture; all null of a broadcast, which no item starts. */
  triggerEvent: string | null
  /** Which events of that name do. Null: each one. */
  triggerTest: TriggerTest | null
  triggerSegment: SegmentTrigger | null
  /** What browsers capture by themselves starts it. */
  triggerWeb: { name: WebTriggerName; test: WebTest } | null
  goalEvent: string | null
  canEnterAgain: boolean
}

/** An ad platform or webhook that receives conversions. */
export interface Destination {
  id: string
  /** The types that it receives. */
  types: ConversionType[]
}

/**
 * How far a page's `identify` is trusted. `open`: it takes effect at once. `confirmed`: for a contact that a keyed call has
 * used, it waits until a keyed call confirms it.
 */
export const PAGE_IDENTIFY = ['open', 'confirmed'] as const
export type PageIdentify = (typeof PAGE_IDENTIFY)[number]

/** The configuration of a business at one version. */
export interface BusinessState {
  id: string
  configVersion: number
  /** Items of an inactive business are not applied. */
  active: boolean
  fields: Map<string, FieldType>
  campaigns: Campaign[]
  /** The events that steps of its campaigns wait for, former versions included. */
  awaited: ReadonlySet<string>
  /** The active ones. */
  destinations: Destination[]
  pageIdentify: PageIdentify
  /** The rules that every item is evaluated by: those in force, and those that are being built. */
  segmentRules: SegmentRule[]
  /** `segmentRules` compiled for `fields`; null when there are none. */
  segments: CompiledSegments | null
}

export type EnrolmentEnd = 'finished' | 'converted' | 'stopped' | 'merged'
export interface EnrolmentState {
  id: string
  /** The contact that has it in Postgres. */
  contactId: string
  campaignId: string
  /** Null for one without steps. */
  version: number | null
  state: 'active' | EnrolmentEnd
  enrolledAt: number
  receivedAt: number
  endedAt: number | null
  /** The first enrolment of the chain that this one is of. Null: itself. */
  chain: string | null
}

/** How many browsers a contact lists, and how many wait, each counted up to the limit. Immutable: replaced, not changed. */
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
  /** As it was when the batch began. */
  stage: number
  identities: ContactIdentity[]
  profile: Profile
  /** The fields of the profile that a page filled, as a bit mask (fill-profile.ts). */
  pageFilled: number
  /** Filled only where the business has published campaigns, or paused ones. */
  enrolments: EnrolmentState[]
  /** When each goal event of a published campaign last happened. */
  goalLastAt: Map<string, number>
  subscriptions: Partial<Record<Channel, StoredConsent>>
  /** With few tags, an upper bound of their number. With many, the tags themselves, or null when they were not read. */
  tags: Set<string> | number | null
  /** Keys of traits that were cleared and have no field; null when they were not read. */
  cleared: Set<string> | null
  /** Null when they were not counted. */
  browsers: BrowserCount | null
  /** Ids that had been merged into it; filled only where a request names the contact. */
  mergedIds: string[]
  /** What the segments of its business read. Null when it was not read. */
  facts: WatchedFacts | null
}

export interface RecordedKey {
  occurredAt: number
  /** Set when the person of the recorded event was erased: the id it was erased as. */
  erasedAs: string | null
  /** Tags that were removed from its contact since then. */
  removedTags?: string[]
}

/** From `fromAt` until the next link begins, the browser belongs to this contact. */
export interface VisitorLink {
  /** Epoch ms. */
  fromAt: number
  /** Null when the browser has no contact for that time, or the link waits. */
  contactId: string | null
  /** When the contact was identified, in epoch ms: later than `fromAt` when earlier history is also the contact's. */
  identifiedAt: number
  /** The contact that a call without a secret key named. The link waits until a keyed call names the browser. Null: it does not wait. */
  waitsFor: string | null
}

/** A browser in the list of a contact. */
export interface BrowserListing {
  /** A keyed call has named the browser for the contact. */
  keyed: boolean
  /** Not shown in the list until a keyed call names the browser. */
  waits: boolean
}

/** Events of one name that are stored with a browser until it has a contact. */
export interface VisitorEventStatistic extends Statistic {
  /** When the last of them was received, in epoch ms. */
  receivedAt: number
}

export interface VisitorState {
  businessId: string
  visitorId: string
  /** The contact identified last in this browser; null before the first, and while the newest link waits. */
  current: string | null
  /** Too many contacts were identified in it: it is permanently without a contact. */
  crowded: boolean
  /** At least one of its links waits. */
  waits: boolean
  /** The latest link in time; null when it never had one. */
  newest: VisitorLink | null
  /** The links needed for its events and late identifications, in order of time. The newest is the same object as `newest`. */
  links: VisitorLink[]
  /** When it last belonged to a contact that has since been erased, in epoch ms; null when there is none. */
  erasedUntil: number | null
  /** The contacts that list it, while it is not crowded. Loaded only when an item may identify it. */
  listedBy: Map<string, BrowserListing>
  /** Times of its events, in epoch ms, at which it belonged to a contact that has since been erased. */
  erasedAt: Set<number>
  /** Its events without a contact, by event name. Loaded only when an item may identify it. */
  history: Map<string, VisitorEventStatistic>
}

/** Keys of the maps: see `identityKey` and `scopedKey`. */
export interface State {
  businesses: Map<string, BusinessState>
  contacts: Map<string, ContactState>
  owners: Map<string, string>
  keys: Map<string, RecordedKey>
  visitors: Map<string, VisitorState>
  /** The steps at which enrolments wait for an edit of this batch, by enrolment. */
  stepsToApply: Map<string, string>
  /** Losing id to surviving id, for the merges of this batch. */
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
    stepsToApply: new Map(),
    mergedInto: new Map(),
  }
}

/** The surviving contact for an id, after the merges of this batch. */
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

/** Whether a page's data for this contact waits until a keyed call confirms it (decisions, `confirmed`). */
export function waitsForKey(state: State, { keyed, businessId }: ContactState): boolean {
  return keyed && state.businesses.get(businessId)?.pageIdentify === 'confirmed'
}

export function customerIdOf(contact: ContactState): ContactIdentity | undefined {
  return contact.identities.find((existing) => existing.kind === 'platformCustomerId')
}
