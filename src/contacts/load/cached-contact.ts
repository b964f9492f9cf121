/**
 * A contact as the cache stores it. There are hundreds of thousands of these objects, and the garbage collector visits
 * them all. So empty fields are left out, and if a contact has only one identity, it is stored without a list.
 */
import type { IdentityKind } from '../../rules/events/facts.ts'
import type { ContactState, ContactIdentity, PastOfKey } from '../../rules/state.ts'

/** An identity field of a call. */
export type SentIdentity = { business_id: string; kind: IdentityKind; value: string }

type Parts = Pick<
  ContactState,
  | 'profile'
  | 'pageFilled'
  | 'enrolments'
  | 'goalLastAt'
  | 'pastOfKeys'
  | 'subscriptions'
  | 'topics'
  | 'cleared'
  | 'facts'
>

export interface CachedContact extends Pick<
  ContactState,
  'id' | 'businessId' | 'createdAt' | 'version' | 'keyed' | 'stage' | 'tags' | 'browsers'
> {
  /** The kind of the only identity; null for a contact with several identities, or none. */
  kind: IdentityKind | null
  value: string
  proven: boolean
  isPrimary: boolean
  /** Null when there is only one. */
  identities: ContactIdentity[] | null
  /** The parts that are not empty; null when all are empty. */
  parts: Partial<Parts> | null
}

/** @param businessId one shared string for all contacts: each call has its own copy. */
export function toCachedContact(contact: ContactState, businessId: string): CachedContact {
  const { id, createdAt, version, keyed, stage, tags, browsers, identities } = contact
  const only = identities.length === 1 ? identities[0] : undefined
  return {
    id,
    businessId,
    createdAt,
    version,
    keyed,
    stage,
    tags,
    browsers,
    kind: only?.kind ?? null,
    value: only?.value ?? '',
    proven: only?.proven ?? false,
    isPrimary: only?.isPrimary ?? false,
    identities: only ? null : identities,
    parts: partsOf(contact),
  }
}

/** Updates the fields that can change while the contact's identities stay the same. */
export function refreshCachedContact(cached: CachedContact, contact: ContactState): void {
  cached.version = contact.version
  cached.stage = contact.stage
  cached.tags = contact.tags
  cached.browsers = contact.browsers
  cached.parts = partsOf(contact)
}

export function fromCachedContact(cached: CachedContact): ContactState {
  const { id, businessId, createdAt, version, keyed, stage, tags, browsers, parts } = cached
  return {
    id,
    businessId,
    createdAt,
    version,
    keyed,
    stage,
    identities: identitiesOf(cached),
    profile: parts?.profile ?? {},
    pageFilled: parts?.pageFilled ?? 0,
    enrolments: parts?.enrolments ?? [],
    goalLastAt: parts?.goalLastAt ?? new Map<string, number>(),
    pastOfKeys: parts?.pastOfKeys ?? new Map<string, PastOfKey>(),
    subscriptions: parts?.subscriptions ?? {},
    topics: parts?.topics ?? {},
    tags,
    cleared: parts?.cleared ?? null,
    browsers,
    mergedIds: [],
    facts: parts?.facts ?? null,
  }
}

export function identitiesOf({ kind, value, proven, isPrimary, identities }: CachedContact): ContactIdentity[] {
  if (kind === null) return identities ?? []
  return [isPrimary ? { kind, value, proven, isPrimary } : { kind, value, proven }]
}

function partsOf(contact: ContactState): Partial<Parts> | null {
  const { profile, pageFilled, enrolments, goalLastAt, pastOfKeys, subscriptions, topics, cleared, facts } = contact
  const parts: Partial<Parts> = {}
  if (!isEmpty(profile)) parts.profile = profile
  if (pageFilled !== 0) parts.pageFilled = pageFilled
  if (enrolments.length > 0) parts.enrolments = enrolments
  if (goalLastAt.size > 0) parts.goalLastAt = goalLastAt
  if (pastOfKeys.size > 0) parts.pastOfKeys = pastOfKeys
  if (!isEmpty(subscriptions)) parts.subscriptions = subscriptions
  if (!isEmpty(topics)) parts.topics = topics
  if (cleared) parts.cleared = cleared
  if (facts) parts.facts = facts
  return isEmpty(parts) ? null : parts
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}
