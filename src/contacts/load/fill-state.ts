/** The result of `load_state`, and how it is read. */
import { type Channel, type IdentityKind, PROFILE_FIELDS, type Profile } from '../../rules/events/facts.ts'
import { ANY_KEY } from '../../rules/campaigns/event-condition.ts'
import {
  type ComparedEvent,
  type ContactState,
  type EnrolmentState,
  type PastOfKey,
  type State,
  type VisitorLink,
  pastKey,
  scopedKey,
} from '../../rules/state.ts'
import { topicChannel } from '../../rules/topics/topic.ts'
import type { TimelineRow } from '../../outbox/timeline-row.ts'
import { type LoadedWatched, readWatched } from './watched-facts.ts'

/** A contact as `load_state` lists it. */
type LoadedContact = [
  businessId: string,
  id: string,
  createdAt: number,
  version: number,
  keyed: boolean,
  stage: number,
  /** In the order of PROFILE_FIELDS. */
  profile: (string | null)[],
  pageFilled: number,
  identities: [position: number, IdentityKind, string, proven: boolean, isPrimary: boolean][],
  enrolments:
    | {
        id: string
        campaign_id: string
        version: number | null
        state: EnrolmentState['state']
        enrolled_at: number
        received_at: number
        ended_at: number | null
        chain: string | null
        key?: string
      }[]
    | null,
  /** By the name of the event or, for a goal with conditions, by the campaign. */
  goals: [event: string | null, lastAt: number, campaignId?: string][] | null,
  subscriptions: [Channel, subscribed: boolean, at: number][],
  mergedIds: string[] | null,
  tags: number | string[] | null,
  cleared: string[] | null,
  browsers: [listed: number, waiting: number] | null,
  topics: [topic: string, Channel, subscribed: boolean, at: number][] | null,
]

/** A part is null when it was not requested, or when no contact was found. */
export interface LoadedState {
  contacts: LoadedContact[] | null
  keys:
    | {
        business_id: string
        key_hash: string
        occurred_at: number
        event: string | null
        erased_as: string | null
        removed_tags: string[] | null
      }[]
    | null
  visitors: LoadedVisitor[] | null
  watched: LoadedWatched | null
}

interface LoadedVisitor {
  business_id: string
  visitor_id: string
  current: string | null
  crowded: boolean
  waits: boolean
  newest: LoadedLink | null
  links: LoadedLink[] | null
  erased_until: number | null
  listed_by: [contactId: string, keyed: boolean, waits: boolean][] | null
  erased_at: number[] | null
  named: [receivedAt: number, line: TimelineRow][] | null
  history: [event: string, firstAt: number, lastAt: number, count: number, receivedAt: number][] | null
}
type LoadedLink = [fromAt: number, contactId: string | null, identifiedAt: number, waitsFor: string | null]

/**
 * Copies the result of `load_state` into the working copy. `keyByHash` contains the idempotency keys that were looked
 * up.
 */
export function fillState(state: State, loaded: LoadedState, keyByHash: Map<string, string>): void {
  for (const row of loaded.contacts ?? []) addContact(state, row)
  if (loaded.watched) {
    for (const { id, facts } of readWatched(loaded.watched, segmentsOf(state))) {
      const contact = state.contacts.get(id)
      if (contact) contact.facts = facts
    }
  }
  for (const row of loaded.keys ?? []) {
    const key = keyByHash.get(row.key_hash.replaceAll('-', ''))
    if (key !== undefined)
      state.keys.set(row.business_id, key, {
        occurredAt: row.occurred_at,
        event: row.event,
        erasedAs: row.erased_as,
        ...(row.removed_tags && { removedTags: row.removed_tags }),
      })
  }
  for (const row of loaded.visitors ?? []) addVisitor(state, row)
}

const segmentsOf =
  ({ contacts, businesses }: State) =>
  (contactId: string) =>
    businesses.get(contacts.get(contactId)?.businessId ?? '')?.segments

/**
 * Adds contacts, by their ids, for which only the facts that segments read were loaded. Returns the survivors of the
 * merged ones.
 * @param businessOf business ids by contact id
 */
export function fillWatched(
  state: State,
  loaded: LoadedWatched,
  businessOf: ReadonlyMap<string, string>,
): { business_id: string; id: string }[] {
  const survivors: { business_id: string; id: string }[] = []
  const ofContact = (id: string) => state.businesses.get(businessOf.get(id) ?? '')?.segments
  for (const { id, facts, alone } of readWatched(loaded, ofContact)) {
    const businessId = businessOf.get(id)!
    const { mergedInto, profile, ...read } = alone!
    if (mergedInto !== null) survivors.push({ business_id: businessId, id: mergedInto })
    else
      state.contacts.set(id, {
        ...nothingElse(),
        id,
        businessId,
        ...read,
        stage: facts.stage,
        profile: profileOf(profile),
        facts,
      })
  }
  return survivors
}

/** The parts that were not loaded. Nothing that changes segments changes them. */
const nothingElse = () =>
  ({
    keyed: false,
    identities: [],
    pageFilled: 0,
    enrolments: [],
    goalLastAt: new Map<string, number>(),
    pastOfKeys: new Map<string, PastOfKey>(),
    subscriptions: {},
    topics: {},
    tags: null,
    cleared: null,
    browsers: null,
  }) satisfies Partial<ContactState>

function addVisitor(state: State, row: LoadedVisitor): void {
  const newest = row.newest && linkOf(row.newest)
  const lookups = (row.links ?? []).map(linkOf).filter(({ fromAt }) => fromAt !== newest?.fromAt)
  state.visitors.set(scopedKey(row.business_id, row.visitor_id), {
    businessId: row.business_id,
    visitorId: row.visitor_id,
    current: row.current,
    crowded: row.crowded,
    waits: row.waits,
    newest,
    links: newest ? [...lookups, newest] : lookups,
    erasedUntil: row.erased_until,
    listedBy: new Map((row.listed_by ?? []).map(([contactId, keyed, waits]) => [contactId, { keyed, waits }])),
    erasedAt: new Set(row.erased_at),
    ...(row.named && { compared: row.named.map(comparedEvent) }),
    history: new Map(
      (row.history ?? []).map(([event, firstAt, lastAt, count, receivedAt]) => [
        event,
        { firstAt, lastAt, count, receivedAt },
      ]),
    ),
  })
}

function comparedEvent([receivedAt, line]: [number, TimelineRow]): ComparedEvent {
  const { event, occurred_ms: occurredAt, value, currency, type, properties } = line
  const read = (): unknown => (properties === '' ? {} : JSON.parse(properties))
  return { event, occurredAt, receivedAt, seen: { value, currency, type, properties: read } }
}

const linkOf = ([fromAt, contactId, identifiedAt, waitsFor]: LoadedLink): VisitorLink => ({
  fromAt,
  contactId,
  identifiedAt,
  waitsFor,
})

function addContact(state: State, row: LoadedContact): void {
  const [businessId, id, createdAt, version, keyed, stage, profile, pageFilled, ...rest] = row
  const [identities, enrolments, goals, subscriptions, mergedIds, tags, cleared, browsers, topics] = rest
  const contact: ContactState = {
    id,
    businessId,
    createdAt,
    version,
    keyed,
    stage,
    identities: identities
      .toSorted(byPosition)
      .map(([, kind, value, proven, isPrimary]) => ({ kind, value, proven, ...(isPrimary && { isPrimary }) })),
    profile: profileOf(profile),
    pageFilled,
    enrolments: (enrolments ?? []).map((enrolment) => ({
      id: enrolment.id,
      contactId: id,
      campaignId: enrolment.campaign_id,
      version: enrolment.version,
      state: enrolment.state,
      enrolledAt: enrolment.enrolled_at,
      receivedAt: enrolment.received_at,
      endedAt: enrolment.ended_at,
      chain: enrolment.chain,
      key: enrolment.key ?? null,
    })),
    goalLastAt: new Map((goals ?? []).flatMap(([event, lastAt]) => (event === null ? [] : [[event, lastAt] as const]))),
    pastOfKeys: new Map(
      (goals ?? []).flatMap(([, lastAt, campaignId]) =>
        campaignId === undefined
          ? []
          : [[pastKey(campaignId, ANY_KEY), { wasEntered: false, goalAt: lastAt }] as const],
      ),
    ),
    subscriptions: Object.fromEntries(subscriptions.map(([channel, subscribed, at]) => [channel, { subscribed, at }])),
    topics: Object.fromEntries(
      (topics ?? []).map(([topic, channel, subscribed, at]) => [topicChannel(topic, channel), { subscribed, at }]),
    ),
    mergedIds: mergedIds ?? [],
    tags: Array.isArray(tags) ? new Set(tags) : tags,
    cleared: cleared && new Set(cleared),
    browsers: browsers && { listed: browsers[0], waiting: browsers[1] },
    facts: null,
  }
  // The row is newer than the contact that the cache lent.
  const checkedOut = state.contacts.get(id)
  for (const held of checkedOut?.identities ?? []) state.owners[held.kind].delete(businessId, held.value)
  state.contacts.set(id, contact)
  for (const held of contact.identities) state.owners[held.kind].set(businessId, held.value, id)
}

const byPosition = ([a]: [number, ...unknown[]], [b]: [number, ...unknown[]]) => a - b

function profileOf(values: (string | null)[]): Profile {
  const fields = PROFILE_FIELDS.map((field, at) => [field, values[at] ?? null] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== null)) as Profile
}
