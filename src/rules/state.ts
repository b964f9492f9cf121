/**
 * What the rules know when they decide: the part of Postgres that one micro-batch touches, as `load-state.ts` read it.
 * Deciding changes this working copy as it goes, so that the second event of a batch sees what the first one did.
 */
import type { Statistic } from './changes.ts'
import type { Channel, ConversionType, FieldType, IdentityKind, Profile } from './facts.ts'

/** A published campaign. */
export interface Campaign {
  id: string
  triggerEvent: string
  goalEvent: string | null
  canEnterAgain: boolean
}

/** An ad platform or webhook that is told of conversions. */
export interface Destination {
  id: string
  /** Those that it wants. */
  types: ConversionType[]
}

/** What a business has configured, at one version. */
export interface BusinessState {
  id: string
  configVersion: number
  fields: Map<string, FieldType>
  campaigns: Campaign[]
  /** The active ones. */
  destinations: Destination[]
}

/** The first of a kind is the primary one. */
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
export interface HeldChoice {
  subscribed: boolean
  at: number
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
  /** Filled only where the business has published campaigns. */
  enrolments: EnrolmentState[]
  /** When each goal event of a published campaign last happened. */
  goalLastAt: Map<string, number>
  subscriptions: Partial<Record<Channel, HeldChoice>>
  /** Ids that had been merged into it; filled only where a request names the contact. */
  mergedIds: string[]
}

export interface RecordedKey {
  occurredAt: number
  /** Set when the person of the recorded event was erased: the id it was erased as. */
  erasedAs: string | null
}

export interface VisitorState {
  /** The contact that identified this browser last; null while nobody has. */
  current: string | null
  /** More contacts were identified in it than it may be of: it is nobody's, for good. */
  crowded: boolean
  /** From when on it is theirs, in epoch ms; null when it never was anybody's. */
  lastFrom: number | null
  /** Whose it was from when on (null: nobody's any more), as far as its events ask; in order of time. */
  links: { fromAt: number; contactId: string | null }[]
  /** Until when it was somebody's who has been erased since, in epoch ms; null when there is none. */
  erasedUntil: number | null
  /** The contacts that list it, while it is not crowded; filled only where somebody may identify it. */
  listedBy: Set<string>
  /** Moments of its events, in epoch ms, at which somebody used it who has been erased since. */
  erasedAt: Set<number>
  /** What it did while it was nobody's, by event name; filled only where somebody may identify it. */
  history: Map<string, Statistic>
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

export function customerIdOf(contact: ContactState): HeldIdentity | undefined {
  return contact.identities.find((held) => held.kind === 'platformCustomerId')
}
