/**
 * The state for the rules: the part of Postgres that one micro-batch needs, as `load-state.ts` read it. Each decision
 * changes this working copy, so that the second event of a batch sees the effects of the first.
 */
import type { Channel, ConversionType, FieldType, IdentityKind, Profile } from './events/facts.ts'
import type { ContactIdentity, Statistic, StoredConsent } from './contact-parts.ts'
import type { KeyReader } from './campaigns/enrolment-key.ts'
import type { WhileActive } from './campaigns/while-active.ts'
import type { CompiledCondition, EventCondition } from './campaigns/event-condition.ts'
import type { TriggerTest } from './campaigns/event-trigger.ts'
import type { WebTest, WebTriggerName } from './campaigns/web-trigger.ts'
import { ScopedMap } from './scoped-map.ts'
import type { CompiledSegments, SegmentRule } from './segments/compile/compile-segments.ts'
import type { SeenEvent } from './segments/compile/compile-where.ts'
import type { WatchedFacts } from './segments/membership/watched-facts.ts'

import type { TopicChoices, TopicRules } from './topics/topic.ts'

export type { ContactIdentity, Statistic, StoredConsent } from './contact-parts.ts'

/** Entering or leaving this segment starts a campaign. */
export interface SegmentTrigger {
  segmentId: string
  on: 'enter' | 'leave'
}

/** The step at which an enrolment begins. */
export interface FirstStep {
  id: string
  /** The event that the step waits for, if any. */
  listensFor: string | null
  /** The step waits for events that meet conditions. */
  condition?: EventCondition | null
}

/** A published or paused campaign. */
export interface Campaign {
  id: string
  /** While it is paused, contacts cannot enter. Goals and awaited events still apply. */
  isPaused: boolean
  version: number
  /** Null when it has no steps. */
  firstStep: FirstStep | null
  /**
   * The event that starts it. A segment or a browser capture may start it instead. All three are null for a broadcast,
   * which no item starts.
   */
  triggerEvent: string | null
  /** Selects the events of that name that start it. Null: all of them. */
  triggerTest: TriggerTest | null
  triggerSegment: SegmentTrigger | null
  /** The automatic browser capture that starts it. */
  triggerWeb: { name: WebTriggerName; test: WebTest } | null
  goalEvent: string | null
  canEnterAgain: boolean
  /** Absent: the campaign enrols once for each contact, its goal has no conditions, and trigger events are ignored meanwhile. */
  keyed?: KeyedCampaign
}

/** What a campaign has that enrols once for each key, whose goal has conditions, or that follows its trigger events. */
export interface KeyedCampaign {
  /** Reads the key of a trigger event. Null: the campaign enrols once for each contact. */
  readKey: KeyReader | null
  /** The path of the key. */
  keyPath: string | null
  /** Null: every event of the goal's name is the goal. */
  goal: CompiledCondition | null
  whileActive: WhileActive
  /** Where enrolments begin again, by version. */
  firstSteps: ReadonlyMap<number, FirstStep>
  /** Epoch milliseconds. */
  publishedAt: number
}

/** An ad platform or webhook that receives conversions. */
export interface Destination {
  id: string
  /** The types that it receives. */
  types: ConversionType[]
}

/**
 * How far a page's `identify` is trusted. `open`: it takes effect at once. `confirmed`: for a contact that a keyed call
 * has used, it waits until a keyed call confirms it.
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
  /** The events that steps of its campaigns wait for, including those of former versions. */
  awaited: ReadonlySet<string>
  /** Some goals or steps of its campaigns have conditions on events. */
  hasConditions: boolean
  /** The conditions of such steps, by the name of the event. */
  awaitedConditions: ReadonlyMap<string, readonly CompiledCondition[]>
  /** It has ever published a campaign, so its contacts may have enrolments. */
  isEnrolling: boolean
  /** It has ever published a campaign with keys, so its contacts may have enrolments with keys. */
  isKeyed: boolean
  /** Only the active ones. */
  destinations: Destination[]
  pageIdentify: PageIdentify
  /** By key, with archived ones. */
  topics: ReadonlyMap<string, TopicRules>
  /** The rules that are evaluated for every item: those in force, and those that are being built. */
  segmentRules: SegmentRule[]
  /** `segmentRules` compiled for `fields`; null when there are none. */
  segments: CompiledSegments | null
}

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
