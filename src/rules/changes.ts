/**
 * The changes of a micro-batch, combined per contact: the save writes each contact, statistic and sum once, however many
 * events of the batch affect it. Every sum, minimum, maximum and union here commutes.
 */
import {
  type Statistic,
  type ContactState,
  type EnrolmentState,
  type StoredConsent,
  type BrowserListing,
  type State,
  type VisitorLink,
} from './state.ts'
import type {
  Channel,
  ConversionType,
  EventFact,
  FieldType,
  IdentityKind,
  Profile,
  ProfileField,
  Source,
  Touch,
} from './events/facts.ts'
import type { AppliedStep, Chain, EnrolmentStart, HeardEvent, TriggerEvent } from './campaigns/campaign-changes.ts'
import type { LinkStep, VisitorChange } from './visitors/visitor-changes.ts'
import type { TraitEntry } from './events/traits.ts'
import type { MessageEvent } from './messages/message-event.ts'
import type { NotedEffect } from './effects.ts'
import type { MembershipChange, WindowChange } from './segments/segment-changes.ts'
import type { ItemWatch } from './segments/watched-facts.ts'
import type { DoneRefresh, WindowRefresh } from './segments/window-refresh.ts'

/** All changes to one contact. */
export interface ContactDelta {
  keyed: boolean
  /** True when a change affects later decisions. The save then raises the contact's version. */
  raisesVersion: boolean
  /** True when a fact that segments read has changed. The save raises the contact's version then, too. */
  changesWatched: boolean
  stage: number
  orders: number
  tags: Set<string>
  traits: Map<string, TraitEntry>
  profile: Profile
  statistics: Map<string, Statistic>
  /** Decimal strings by currency. */
  revenue: Map<string, string>
}

/** The fields of an event that the timeline shows. */
export type TimelineFact = Omit<EventFact, 'identity' | 'occurredAtSent' | 'tags' | 'traits' | 'warnings'>

export interface RecordedEvent {
  eventId: string
  businessId: string
  contactId: string
  receivedAt: number
  source: Source
  fact: TimelineFact
}

/** An event of a visitor that is not identified yet. */
export type VisitorEvent = Omit<RecordedEvent, 'contactId'>

/** A conversion for one destination. The save checks whether the contact has the click id that the destination needs. */
export interface Delivery {
  id: string
  businessId: string
  destinationId: string
  eventId: string
  contactId: string
  event: string
  type: ConversionType
  occurredAt: number
  /** Decimal string; null when no value was sent, or the value does not count. */
  amount: string | null
  currency: string | null
  idempotencyKey: string | null
}

/** An identity that a contact gained, lost or proved. The working copy shows which contact has it now. */
export interface IdentityChange {
  businessId: string
  kind: IdentityKind
  value: string
  phoneRead: boolean
  /** Its row in Postgres: there is none, it stays with its contact, or it must be removed from its contact first. */
  row: 'none' | 'stays' | 'leaves'
}

export interface MergeLogEntry {
  businessId: string
  id: string
  action: 'merged' | 'moved' | 'released'
  contactId: string
  losingId: string
  /** The identities that caused it. */
  evidence: { kind: IdentityKind; value: string }[]
  recordedAt: number
  /** Of a moved identity: the channels whose opt-outs the save copies to the contact. */
  optOuts?: Channel[]
}

export interface ConsentChange {
  businessId: string
  contactId: string
  channel: Channel
  subscribed: boolean
  method: string
  recordedAt: number
  /** The consent in Postgres after the save has merged contacts and before it writes this change: an opt-out of one of them, say. */
  was: StoredConsent | undefined
}

/** The part of an edit that no event can do. The rest is in the contact's delta. */
export interface Edit {
  businessId: string
  contactId: string
  at: number
  /** Profile fields to clear. */
  cleared: ProfileField[]
  /** JSON text, or null when cleared. They replace the stored values, even newer ones. */
  traits: Record<string, string | null>
  addTags: string[]
  removeTags: string[]
}

export interface Changes {
  newContacts: Map<string, ContactState>
  deltas: Map<string, ContactDelta>
  /** By `identityKey`. */
  identities: Map<string, IdentityChange>
  /** In the order in which they were decided. */
  merges: { businessId: string; losingId: string; survivingId: string }[]
  mergeLog: MergeLogEntry[]
  newFields: { businessId: string; key: string; type: FieldType; createdAt: number }[]
  /** `contactId` is null for an event of a browser without a contact. */
  newKeys: { businessId: string; key: string; contactId: string | null; occurredAt: number }[]
  /** By `scopedKey`. The keys of `visitorEvents` are the same. */
  visitors: Map<string, VisitorChange>
  /** `isLate`: later links were recorded before this one. If a link with the same start exists, that one stays. */
  visitorLinks: { businessId: string; visitorId: string; link: VisitorLink; isLate: boolean }[]
  /** In the order in which they were decided. */
  linkSteps: LinkStep[]
  visitorEvents: Map<string, VisitorEvent[]>
  sightings: {
    businessId: string
    visitorId: string
    seenAt: number
    firstTouch: Touch | null
    latestTouch: Touch | null
  }[]
  /** By business, visitor and contact. */
  listedVisitors: Map<
    string,
    { businessId: string; visitorId: string; contactId: string; linkedAt: number; listing: BrowserListing }
  >
  identifications: {
    businessId: string
    id: string
    contactId: string
    identifiedAt: number
    method: string | null
    keyed: boolean
    visitorId: string | null
  }[]
  /** By id. `endedEnrolments` has the enrolments that are in Postgres and ended in this batch; its keys are ids, too. */
  newEnrolments: Map<string, { businessId: string; enrolment: EnrolmentState }>
  endedEnrolments: Map<string, { businessId: string; enrolment: EnrolmentState }>
  /** Where the new enrolments with steps begin, by enrolment. */
  firstSteps: Map<string, EnrolmentStart>
  appliedSteps: AppliedStep[]
  /** Events that a step may wait for, by contact and event. */
  heard: Map<string, HeardEvent>
  /** Opened and clicked messages. */
  messageEvents: { businessId: string; messageId: string; event: MessageEvent }[]
  /** The last change per contact and channel. The key consists of both. */
  subscriptions: Map<string, ConsentChange>
  /** Choices of the past, for the history of consent: whatever became of them, each is there once. */
  pastChoices: Omit<ConsentChange, 'was'>[]
  /** `at`: when they were asked for, in epoch ms. */
  erasures: { businessId: string; contactId: string; at: number }[]
  edits: Edit[]
  events: RecordedEvent[]
  deliveries: Delivery[]
  /** By contact and number of the rule (`membershipKey`), in the order in which they happened. */
  memberships: Map<string, MembershipChange[]>
  /** The contacts whose clock changed: the working copy has the new one. */
  clocks: Map<string, ContactState>
  /** The contacts whose counts and sums of the timeline have to be read, by id. */
  windowRefreshes: Map<string, WindowRefresh>
  /** The requests for such readings that this save answers: it removes them. */
  doneRefreshes: DoneRefresh[]
  /** The counts and sums that were read, by contact. */
  windows: Map<string, WindowChange[]>
  /** Of the present item; null when its caller did not ask for them. */
  effects: NotedEffect[] | null
}

/** What every step of a decision needs. `newId` returns time-ordered UUIDs. */
export interface DecisionContext {
  state: State
  changes: Changes
  newId: () => string
  /** When the micro-batch is decided, in epoch ms: the time of what has no receipt, such as a merge or a batch in a segment. */
  decidedAt: number
  /** Of the present item; absent when its business has no segments. */
  watch?: ItemWatch
  /** That the present item brings. */
  event?: TriggerEvent
  /** The enrolments that the present item begins are of this one. */
  chain?: Chain
}

export function emptyChanges(): Changes {
  return {
    newContacts: new Map(),
    deltas: new Map(),
    identities: new Map(),
    merges: [],
    mergeLog: [],
    newFields: [],
    newKeys: [],
    visitors: new Map(),
    visitorLinks: [],
    linkSteps: [],
    visitorEvents: new Map(),
    sightings: [],
    listedVisitors: new Map(),
    identifications: [],
    newEnrolments: new Map(),
    endedEnrolments: new Map(),
    firstSteps: new Map(),
    appliedSteps: [],
    heard: new Map(),
    messageEvents: [],
    subscriptions: new Map(),
    pastChoices: [],
    erasures: [],
    edits: [],
    events: [],
    deliveries: [],
    memberships: new Map(),
    clocks: new Map(),
    windowRefreshes: new Map(),
    doneRefreshes: [],
    windows: new Map(),
    effects: null,
  }
}

export function emptyDelta(): ContactDelta {
  return {
    keyed: false,
    raisesVersion: false,
    changesWatched: false,
    stage: 0,
    orders: 0,
    tags: new Set(),
    traits: new Map(),
    profile: {},
    statistics: new Map(),
    revenue: new Map(),
  }
}

/** Whether the save raises the version of a stored contact. */
export function isVersionRaised({ deltas, clocks, windows }: Changes, contactId: string): boolean {
  const delta = deltas.get(contactId)
  if (delta?.raisesVersion || delta?.changesWatched || clocks.has(contactId)) return true
  return windows.get(contactId)?.some(({ isOther }) => isOther) ?? false
}

export function deltaOf(changes: Changes, contactId: string): ContactDelta {
  let delta = changes.deltas.get(contactId)
  if (!delta) {
    delta = emptyDelta()
    changes.deltas.set(contactId, delta)
  }
  return delta
}
