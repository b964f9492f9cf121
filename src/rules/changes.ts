/**
 * The changes of a micro-batch, combined per contact: the save writes each contact, statistic and sum once, however
 * many events of the batch affect it. All sums, minimums, maximums and unions here are commutative.
 */
import {
  type ContactState,
  type EnrolmentState,
  type StoredConsent,
  type BrowserListing,
  type State,
  type VisitorLink,
} from './state.ts'
import type { Channel, FieldType, IdentityKind, ProfileField, Touch } from './events/facts.ts'
import type {
  AppliedStep,
  AwaitedEvent,
  Chain,
  EnrolmentStart,
  FollowedTrigger,
  GoalTime,
  TriggerEvent,
} from './campaigns/campaign-changes.ts'
import type { LinkStep, VisitorChange } from './visitors/visitor-changes.ts'
import type { MessageEvent } from './messages/message-event.ts'
import { type ContactDelta, emptyDelta } from './contact-delta.ts'
import type { RecordedEvent, VisitorEvent, Delivery } from './events/recorded-event.ts'
import type { NotedEffect } from './effects.ts'
import type { MembershipChange, WindowChange } from './segments/membership/segment-changes.ts'
import type { ItemWatch } from './segments/membership/watched-facts.ts'
import type { DoneRefresh, WindowRefresh } from './segments/windows/window-refresh.ts'

/** An identity that a contact gained, lost or proved. The working copy shows which contact has it now. */
export interface IdentityChange {
  businessId: string
  kind: IdentityKind
  value: string
  phoneRead: boolean
  /**
   * State of its row in Postgres: no row exists, it stays with its contact, or it must be removed from its contact
   * first.
   */
  row: 'none' | 'stays' | 'leaves'
}

/** `value` null: the address that was made primary last, of those that remain. */
export interface PrimaryChange {
  businessId: string
  contactId: string
  kind: 'email' | 'phone'
  value: string | null
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
  /** For a moved identity: the channels whose opt-outs the save copies to the contact. */
  optOuts?: Channel[]
}

/** A choice within a channel. */
export interface TopicChange extends ConsentChange {
  topic: string
}

/** An opt-out in Postgres that the save copies to the contact to which its address has moved. */
export interface TopicMove {
  businessId: string
  contactId: string
  losingId: string
  topic: string
  channel: Channel
}

export interface ConsentChange {
  businessId: string
  contactId: string
  channel: Channel
  subscribed: boolean
  method: string
  recordedAt: number
  /**
   * The consent in Postgres after the save has merged contacts and before it writes this change; for example, an
   * opt-out of a merged contact.
   */
  was: StoredConsent | undefined
}

/** The part of an edit that an event cannot do. The rest is in the contact's delta. */
export interface Edit {
  businessId: string
  contactId: string
  at: number
  /** Profile fields to clear. */
  cleared: ProfileField[]
  /** JSON text, or null when cleared. These values replace the stored ones, even newer ones. */
  traits: Record<string, string | null>
  addTags: string[]
  removeTags: string[]
}

export interface Changes {
  newContacts: Map<string, ContactState>
  deltas: Map<string, ContactDelta>
  /** By `identityKey`. */
  identities: Map<string, IdentityChange>
  /** By contact and kind, in the order in which they were decided. */
  primaries: Map<string, PrimaryChange>
  /** In the order in which they were decided. */
  merges: { businessId: string; losingId: string; survivingId: string }[]
  mergeLog: MergeLogEntry[]
  newFields: { businessId: string; key: string; type: FieldType; createdAt: number }[]
  /** `contactId` is null for an event of a browser without a contact. */
  newKeys: { businessId: string; key: string; event: string; contactId: string | null; occurredAt: number }[]
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
  /** By id. `endedEnrolments` contains the enrolments in Postgres that ended in this batch, also by id. */
  newEnrolments: Map<string, { businessId: string; enrolment: EnrolmentState }>
  endedEnrolments: Map<string, { businessId: string; enrolment: EnrolmentState }>
  /** First steps of the new enrolments that have steps, by enrolment. */
  firstSteps: Map<string, EnrolmentStart>
  /** In the order in which they were decided. */
  followedTriggers: FollowedTrigger[]
  /** By contact, campaign and key. */
  goalTimes: Map<string, GoalTime>
  appliedSteps: AppliedStep[]
  /** Events that a step may wait for, by contact and event. */
  awaitedEvents: Map<string, AwaitedEvent>
  /** Opened and clicked messages. */
  messageEvents: { businessId: string; messageId: string; event: MessageEvent }[]
  /** The last change per contact and channel, which form the key. */
  subscriptions: Map<string, ConsentChange>
  /** Past choices for the history of consent: each is recorded once, whether or not it still applies. */
  pastChoices: Omit<ConsentChange, 'was'>[]
  /** The last choice per contact, topic and channel, which form the key. */
  topicChoices: Map<string, TopicChange>
  pastTopicChoices: Omit<TopicChange, 'was'>[]
  topicMoves: TopicMove[]
  /** `at`: time of the request, in epoch ms. */
  erasures: { businessId: string; contactId: string; at: number }[]
  edits: Edit[]
  events: RecordedEvent[]
  deliveries: Delivery[]
  /** By contact and number of the rule (`membershipKey`), in order of occurrence. */
  memberships: Map<string, MembershipChange[]>
  /** The contacts whose clock changed. The working copy has the new clock. */
  clocks: Map<string, ContactState>
  /** The contacts whose counts and sums have to be read from the timeline, by id. */
  windowRefreshes: Map<string, WindowRefresh>
  /** The finished requests for such reads. The save removes them. */
  doneRefreshes: DoneRefresh[]
  /** The counts and sums that were read, by contact. */
  windows: Map<string, WindowChange[]>
  /** Effects of the current item; null when its caller did not request them. */
  effects: NotedEffect[] | null
}

/**
 * The context of every step of a decision. `newId` returns time-ordered UUIDs. The id of an event is requested as such:
 * it must not depend on what else the decision creates.
 */
export interface DecisionContext {
  state: State
  changes: Changes
  newId: (of?: 'event') => string
  /** Time of the decision, in epoch ms. It dates the segment changes of batches and of replayed dead letters. */
  decidedAt: number
  /** Watch of the current item; absent when its business has no segments. */
  watch?: ItemWatch
  /** Event of the current item. */
  event?: TriggerEvent
  /** The chain that enrolments started by the current item belong to. */
  chain?: Chain
}

export function emptyChanges(): Changes {
  return {
    newContacts: new Map(),
    deltas: new Map(),
    identities: new Map(),
    primaries: new Map(),
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
    followedTriggers: [],
    goalTimes: new Map(),
    appliedSteps: [],
    awaitedEvents: new Map(),
    messageEvents: [],
    subscriptions: new Map(),
    pastChoices: [],
    topicChoices: new Map(),
    pastTopicChoices: [],
    topicMoves: [],
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

/** Returns whether the save raises the version of a stored contact. */
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
