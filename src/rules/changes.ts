/**
 * What a micro-batch does, folded per contact: the save writes each contact, statistic and sum once, however many
 * events of the batch touched it. Every sum, minimum, maximum and union here commutes.
 */
import {
  type Statistic,
  type ContactState,
  type EnrolmentState,
  type StoredConsent,
  type Listing,
  type State,
  type VisitorLink,
  type VisitorState,
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
import type { TraitEntry } from './events/traits.ts'

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

/** An event of a visitor who is not identified yet. */
export type VisitorEvent = Omit<RecordedEvent, 'contactId'>

/** A visitor's contact has changed. */
export interface VisitorChange {
  businessId: string
  visitorId: string
  /** As it is in the end. */
  visitor: VisitorState
  /** Its contact in Postgres. */
  assumedContactId: string | null
  /** The first contact that it got in this batch. */
  contactId: string | null
  linkedAt: number
  /** The contact that gets the visitor's events from Postgres, their number, and whether those that mean an order count as orders. */
  joinedContactId: string | null
  joinedCount: number
  joinedOrders: boolean
}

/**
 * What happens to links that Postgres has; those of this batch are written as they ended up. Either the links of a contact
 * wait from now on, but for the browser that the call names (`named`); or what waits of a browser is the contact's, and `newest` was confirmed at `identifiedAt`.
 */
export type LinkStep =
  | { businessId: string; contactId: string; waits: true; named: string | null }
  | {
      businessId: string
      contactId: string
      waits: false
      visitorId: string
      newest: { fromAt: number; identifiedAt: number } | null
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

/** A value that a contact got, lost or proved; the working copy shows which contact holds it now. */
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
  was: StoredConsent | undefined
}

/** Of an edit, what no event can do; the rest is in the contact's delta. */
export interface Edit {
  businessId: string
  contactId: string
  at: number
  /** These become unknown. */
  cleared: ProfileField[]
  /** JSON text, or null when cleared: they win over what is stored, however new it is. */
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
  /** `contactId` is null for an event of an unidentified visitor. */
  newKeys: { businessId: string; key: string; contactId: string | null; occurredAt: number }[]
  /** By `scopedKey`, as `visitorEvents`. */
  visitors: Map<string, VisitorChange>
  /** `isLate`: it was reported after others that follow it; where there is one of its time already, that one stays. */
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
  /** By all three. */
  listedVisitors: Map<
    string,
    { businessId: string; visitorId: string; contactId: string; linkedAt: number; listing: Listing }
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
  /** By id, as `endedEnrolments`: those that Postgres has and that ended. */
  newEnrolments: Map<string, { businessId: string; enrolment: EnrolmentState }>
  endedEnrolments: Map<string, { businessId: string; enrolment: EnrolmentState }>
  /** The last of each contact and channel, by both. */
  subscriptions: Map<string, Choice>
  erasures: { businessId: string; contactId: string }[]
  edits: Edit[]
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
    linkSteps: [],
    visitorEvents: new Map(),
    sightings: [],
    listedVisitors: new Map(),
    identifications: [],
    newEnrolments: new Map(),
    endedEnrolments: new Map(),
    subscriptions: new Map(),
    erasures: [],
    edits: [],
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
