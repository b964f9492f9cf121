/**
 * What a micro-batch does, folded per contact: the save writes each contact, statistic and sum once, however many
 * events of the batch touched it. Every sum, minimum, maximum and union here commutes.
 */
import type { Channel, ConversionType, EventFact, FieldType, IdentityKind, Profile, Source, Touch } from './facts.ts'
import type { ContactState, EnrolmentState, HeldChoice, State } from './state.ts'
import type { TraitEntry } from './traits.ts'

export interface Statistic {
  firstAt: number
  lastAt: number
  count: number
}

/** All that happened to one contact. */
export interface ContactDelta {
  keyed: boolean
  /** True when something changed that later decisions depend on: the contact's version is raised. */
  raisesVersion: boolean
  stage: number
  orders: number
  tags: Set<string>
  traits: Map<string, TraitEntry>
  profile: Profile
  statistics: Map<string, Statistic>
  /** Decimal strings by currency. */
  revenue: Map<string, string>
}

/** What the timeline tells of an event. */
export type TimelineFact = Pick<
  EventFact,
  'event' | 'occurredAt' | 'meaning' | 'value' | 'properties' | 'idempotencyKey' | 'visitorId'
>

export interface RecordedEvent {
  eventId: string
  businessId: string
  contactId: string
  receivedAt: number
  source: Source
  fact: TimelineFact
}

/** An event of a visitor whom nobody has identified yet. */
export type VisitorEvent = Omit<RecordedEvent, 'contactId'>

/** Somebody identified a browser that was not theirs. The contacts are null where it was one too many. */
export interface VisitorChange {
  businessId: string
  visitorId: string
  /** Whose it was in Postgres. */
  assumedContactId: string | null
  /** The first that identified it in this batch, and the last. */
  contactId: string | null
  currentContactId: string | null
  crowded: boolean
  linkedAt: number
  /** Who got what Postgres has of its events, and how many these are. */
  joinedContactId: string | null
  joinedCount: number
}

/** A conversion for one destination; whether the contact has the click id that this one asks for is seen by the save. */
export interface Delivery {
  id: string
  businessId: string
  destinationId: string
  eventId: string
  contactId: string
  event: string
  type: ConversionType
  occurredAt: number
  /** Decimal string; null when no value was sent, or none that counts. */
  amount: string | null
  currency: string | null
  idempotencyKey: string | null
}

/** A value that somebody got, lost or proved; the working copy tells who holds it now. */
export interface IdentityChange {
  businessId: string
  kind: IdentityKind
  value: string
  phoneRead: boolean
  /** Its row in Postgres: there is none, it stays with its contact, or it has to leave it first. */
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
}

export interface Choice {
  businessId: string
  contactId: string
  channel: Channel
  subscribed: boolean
  method: string
  recordedAt: number
  /** What Postgres will hold before this is written, once it has united those who were merged: an opt-out of one of them, say. */
  was: HeldChoice | undefined
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
  /** `contactId` is null for an event of nobody's. */
  newKeys: { businessId: string; key: string; contactId: string | null; occurredAt: number }[]
  /** By `scopedKey`, as `visitorEvents`. */
  visitors: Map<string, VisitorChange>
  /** In order of time. */
  visitorLinks: { businessId: string; visitorId: string; fromAt: number; contactId: string | null }[]
  visitorEvents: Map<string, VisitorEvent[]>
  sightings: {
    businessId: string
    visitorId: string
    seenAt: number
    firstTouch: Touch | null
    latestTouch: Touch | null
  }[]
  listedVisitors: { businessId: string; visitorId: string; contactId: string; linkedAt: number }[]
  identifications: {
    businessId: string
    id: string
    contactId: string
    identifiedAt: number
    method: string | null
    keyed: boolean
    visitorId: string | null
  }[]
  newEnrolments: { businessId: string; enrolment: EnrolmentState }[]
  /** Enrolments that Postgres has and that ended. */
  endedEnrolments: Map<string, { businessId: string; enrolment: EnrolmentState }>
  /** The last of each contact and channel, by both. */
  subscriptions: Map<string, Choice>
  erasures: { businessId: string; contactId: string }[]
  events: RecordedEvent[]
  deliveries: Delivery[]
}

/** What every step of a decision works with; `newId` gives time-ordered uuids. */
export interface Deciding {
  state: State
  changes: Changes
  newId: () => string
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
    visitorEvents: new Map(),
    sightings: [],
    listedVisitors: [],
    identifications: [],
    newEnrolments: [],
    endedEnrolments: new Map(),
    subscriptions: new Map(),
    erasures: [],
    events: [],
    deliveries: [],
  }
}

export function emptyDelta(): ContactDelta {
  return {
    keyed: false,
    raisesVersion: false,
    stage: 0,
    orders: 0,
    tags: new Set(),
    traits: new Map(),
    profile: {},
    statistics: new Map(),
    revenue: new Map(),
  }
}

export function deltaOf(changes: Changes, contactId: string): ContactDelta {
  let delta = changes.deltas.get(contactId)
  if (!delta) {
    delta = emptyDelta()
    changes.deltas.set(contactId, delta)
  }
  return delta
}
