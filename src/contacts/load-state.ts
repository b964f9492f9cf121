/** Loads the state for one micro-batch in one round trip, and one more when a business is new to this worker. */
import { type Channel, type FieldType, type IdentityKind, PROFILE_FIELDS, type Profile } from '../rules/events/facts.ts'
import type { Item } from '../rules/item.ts'
import { MAX_BROWSERS } from '../rules/limits.ts'
import { MAX_CONTACTS_PER_VISITOR } from '../rules/visitors/link-visitor.ts'
import {
  type BusinessState,
  type Campaign,
  type ContactState,
  type Destination,
  type EnrolmentState,
  type PageIdentify,
  type State,
  type VisitorLink,
  emptyState,
  identityKey,
  scopedKey,
} from '../rules/state.ts'
import type { Sql } from '../stores/postgres.ts'
import { compileSegments, type SegmentRule } from '../rules/segments/compile-segments.ts'
import { type Lookups, collectLookups, hashKey } from './collect-lookups.ts'
import { type LoadedFacts, readWatchedFacts, watchedItems, watchedRecords } from './watched-facts.ts'
import type { ContactCache } from './contact-cache.ts'
import { windowKeysByHash } from './window-hashes.ts'
import { arrayLiteral, writeColumns, writeRecords } from './write-columns.ts'

/** The configuration of businesses, as last read. A save that finds it outdated makes the worker drop it. */
export type ConfigCache = Map<string, BusinessState>
const MAX_CACHED_BUSINESSES = 10_000

export interface LoadResult {
  state: State
  /** The idempotency keys were not looked up and are assumed to be new. The save must check them. */
  keysAssumedNew: boolean
}

/**
 * With `contacts` the state may be out of date, and idempotency keys may be left out (`keysAssumedNew`).
 * @param inFull contacts whose tags, cleared traits and browsers the rules asked for
 * @param alsoOf businesses that are read besides those of the items
 */
export async function loadState(
  sql: Sql,
  cache: ConfigCache,
  items: Item[],
  contacts?: ContactCache,
  inFull: string[] = [],
  alsoOf: string[] = [],
): Promise<LoadResult> {
  const businessIds = [...new Set([...items.map((item) => item.businessId), ...alsoOf])]
  const businesses = await loadBusinesses(sql, cache, businessIds)
  const state = emptyState()
  // Decisions add fields. They must not reach the cache before they are committed.
  for (const business of businesses)
    state.businesses.set(business.id, { ...business, fields: new Map(business.fields) })
  const served = items.filter(({ businessId }) => state.businesses.get(businessId)?.active)
  const isWatched = watchedItems(state)
  const lookups = collectLookups(
    served,
    (sent, key, item) => contacts?.checkout(state, sent, key, isWatched(item)) ?? false,
  )
  const keysAssumedNew = canSkipKeyLookup(lookups, served) && (contacts?.assumesKeysNew() ?? false)
  const hashed = keysAssumedNew
    ? []
    : lookups.keys.map(({ businessId, key }) => ({ businessId, key, hash: hashKey(key) }))
  if (hashed.length === 0 && !hasOtherLookups(lookups)) return { state, keysAssumedNew }
  const countsBrowsers = inFull.length > 0 || lookups.visitors.some(({ joins }) => joins)
  const goals = goalRecords(businesses)
  const watched = inFull.length > 0 || served.some(isWatched) ? watchedRecords(businesses) : []
  const keys = hashed.map(({ businessId, hash }) => ({ business_id: businessId, key_hash: hash }))
  const loaded = await callLoadState(sql, { ...lookups, keys, goals, inFull, countsBrowsers, watched })
  fillState(state, loaded, new Map(hashed.map(({ hash, key }) => [hash, key])))
  if (state.keys.size > 0) contacts?.noteRepeatedKey()
  return { state, keysAssumedNew }
}

/** Contacts by their ids, with what the segments of their businesses read: for work that no request has asked for. */
export async function loadContacts(sql: Sql, cache: ConfigCache, contacts: Lookups['contacts']): Promise<State> {
  const state = emptyState()
  const businesses = await loadBusinesses(sql, cache, [...new Set(contacts.map(({ business_id }) => business_id))])
  for (const business of businesses) state.businesses.set(business.id, business)
  const watched = watchedRecords(businesses)
  const goals = goalRecords(businesses)
  const none = { identities: [], keys: [], visitors: [], inFull: [], countsBrowsers: false }
  fillState(state, await callLoadState(sql, { ...none, contacts, goals, watched }), new Map())
  return state
}

async function callLoadState(
  sql: Sql,
  asked: Pick<Lookups, 'identities' | 'visitors' | 'contacts'> & {
    keys: { business_id: string; key_hash: string }[]
    goals: { business_id: string; event: string }[]
    inFull: string[]
    countsBrowsers: boolean
    watched: ReturnType<typeof watchedRecords>
  },
): Promise<LoadedState> {
  const [row] = await sql<[{ state: LoadedState }]>`
    select load_state(
      p_identities => ${writeColumns(LOAD_COLUMNS.identities, asked.identities)}::text::text[],
      p_keys => ${writeColumns(LOAD_COLUMNS.keys, asked.keys)}::text::text[],
      p_visitors => ${writeRecords(asked.visitors)}::text::json,
      p_contacts => ${writeColumns(LOAD_COLUMNS.contacts, asked.contacts)}::text::text[],
      p_goals => ${writeRecords(asked.goals)}::text::json,
      p_most_contacts => ${MAX_CONTACTS_PER_VISITOR},
      p_in_full => ${asked.inFull.length === 0 ? null : arrayLiteral(asked.inFull)}::text::uuid[],
      p_most_browsers => ${asked.countsBrowsers ? MAX_BROWSERS : null}::integer,
      p_watched => ${writeRecords(asked.watched)}::text::json
    ) as state`
  return row.state
}

/** The businesses that exist. All loops of a worker share the cache, so it may be emptied at any await. */
export async function loadBusinesses(sql: Sql, cache: ConfigCache, ids: string[]): Promise<BusinessState[]> {
  if (cache.size > MAX_CACHED_BUSINESSES) cache.clear()
  const known = ids.flatMap((id) => cache.get(id) ?? [])
  if (known.length === ids.length) return known
  const missing = ids.filter((id) => !cache.has(id))
  const rows = await sql<
    {
      id: string
      config_version: number
      active: boolean
      fields: Record<string, FieldType> | null
      campaigns: Campaign[] | null
      destinations: Destination[] | null
      page_identify: PageIdentify
      segment_rules: SegmentRule[] | null
    }[]
  >`
    select b.id, b.config_version, b.page_identify, b.active,
      (select json_object_agg(f.key, f.type) from custom_fields f where f.business_id = b.id) as fields,
      (select json_agg(json_build_object('id', c.id, 'triggerEvent', c.trigger_event,
          'triggerSegment', case when c.trigger_segment is not null
            then json_build_object('segmentId', c.trigger_segment, 'on', c.trigger_on) end, 'goalEvent', c.goal_event,
          'canEnterAgain', c.can_enter_again) order by c.published_at, c.id)
        from campaigns c where c.business_id = b.id and c.status = 'published') as campaigns,
      (select json_agg(json_build_object('id', d.id, 'types', d.types) order by d.id)
        from destinations d where d.business_id = b.id and d.active) as destinations,
      (select json_agg(json_build_object('no', r.no, 'segmentId', r.segment_id, 'isBuilding', r.state = 'building',
          'rule', r.rule) order by r.no)
        from segment_rules r where r.business_id = b.id and r.state <> 'retired') as segment_rules
    from businesses b
    where b.id in (select value::uuid from json_array_elements_text(${JSON.stringify(missing)}::text::json))`
  const read = rows.map((row) => {
    const fields = new Map(Object.entries(row.fields ?? {}))
    const segmentRules = row.segment_rules ?? []
    return {
      id: row.id,
      configVersion: row.config_version,
      active: row.active,
      fields,
      campaigns: row.campaigns ?? [],
      destinations: row.destinations ?? [],
      pageIdentify: row.page_identify,
      segmentRules,
      segments: segmentRules.length === 0 ? null : compileSegments(segmentRules, fields),
    }
  })
  for (const business of read) cache.set(business.id, business)
  return [...known, ...read]
}

function goalRecords(businesses: BusinessState[]) {
  return businesses.flatMap(({ id, campaigns }) => {
    const goals = campaigns.flatMap(({ goalEvent }) => (goalEvent === null ? [] : [goalEvent]))
    return [...new Set(goals)].map((event) => ({ business_id: id, event }))
  })
}

/** The columns of the lists that `load_state` unnests, in their order. */
export const LOAD_COLUMNS = {
  identities: ['business_id', 'kind', 'value'],
  keys: ['business_id', 'key_hash'],
  contacts: ['business_id', 'id'],
} as const

/** As `load_state` lists it. */
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
  identities: [position: number, IdentityKind, string, proven: boolean][],
  enrolments: {
    id: string
    campaign_id: string
    state: EnrolmentState['state']
    enrolled_at: number
    received_at: number
    ended_at: number | null
  }[],
  goals: [string, number][],
  subscriptions: [Channel, subscribed: boolean, at: number][],
  mergedIds: string[] | null,
  tags: number | string[] | null,
  cleared: string[] | null,
  browsers: [listed: number, waiting: number] | null,
  watched: LoadedFacts | null,
]

/** Null: nothing of the kind was asked for, or no contact found. */
interface LoadedState {
  contacts: LoadedContact[] | null
  keys:
    | {
        business_id: string
        key_hash: string
        occurred_at: number
        erased_as: string | null
        removed_tags: string[] | null
      }[]
    | null
  visitors: LoadedVisitor[] | null
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
  history: [event: string, firstAt: number, lastAt: number, count: number, receivedAt: number][] | null
}
type LoadedLink = [fromAt: number, contactId: string | null, identifiedAt: number, waitsFor: string | null]

/**
 * Keys are nearly always new, and looking them up costs as much as recording them. Events of unidentified visitors are not
 * recorded under their keys, so no save would notice a repeat.
 */
const canSkipKeyLookup = ({ keys }: Lookups, items: Item[]): boolean =>
  keys.length > 0 && !items.some(({ kind }) => kind === 'browser')

/** Whether the batch needs more than idempotency keys. */
const hasOtherLookups = ({ identities, visitors, contacts }: Lookups) =>
  identities.length + visitors.length + contacts.length > 0

function fillState(state: State, loaded: LoadedState, keyByHash: Map<string, string>): void {
  for (const row of loaded.contacts ?? []) addContact(state, row)
  for (const row of loaded.keys ?? []) {
    const key = keyByHash.get(row.key_hash.replaceAll('-', ''))
    if (key !== undefined)
      state.keys.set(scopedKey(row.business_id, key), {
        occurredAt: row.occurred_at,
        erasedAs: row.erased_as,
        ...(row.removed_tags && { removedTags: row.removed_tags }),
      })
  }
  for (const row of loaded.visitors ?? []) addVisitor(state, row)
}

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
    history: new Map(
      (row.history ?? []).map(([event, firstAt, lastAt, count, receivedAt]) => [
        event,
        { firstAt, lastAt, count, receivedAt },
      ]),
    ),
  })
}

const linkOf = ([fromAt, contactId, identifiedAt, waitsFor]: LoadedLink): VisitorLink => ({
  fromAt,
  contactId,
  identifiedAt,
  waitsFor,
})

function addContact(state: State, row: LoadedContact): void {
  const [businessId, id, createdAt, version, keyed, stage, profile, pageFilled, ...rest] = row
  const [identities, enrolments, goals, subscriptions, mergedIds, tags, cleared, browsers, watched] = rest
  const contact: ContactState = {
    id,
    businessId,
    createdAt,
    version,
    keyed,
    stage,
    identities: identities.toSorted(byPosition).map(([, kind, value, proven]) => ({ kind, value, proven })),
    profile: profileOf(profile),
    pageFilled,
    enrolments: enrolments.map((enrolment) => ({
      id: enrolment.id,
      contactId: id,
      campaignId: enrolment.campaign_id,
      state: enrolment.state,
      enrolledAt: enrolment.enrolled_at,
      receivedAt: enrolment.received_at,
      endedAt: enrolment.ended_at,
    })),
    goalLastAt: new Map(goals),
    subscriptions: Object.fromEntries(subscriptions.map(([channel, subscribed, at]) => [channel, { subscribed, at }])),
    mergedIds: mergedIds ?? [],
    tags: Array.isArray(tags) ? new Set(tags) : tags,
    cleared: cleared && new Set(cleared),
    browsers: browsers && { listed: browsers[0], waiting: browsers[1] },
    facts: watched && readWatchedFacts(watched, stage, windowKeysByHash(state.businesses.get(businessId)?.segments)),
  }
  // The row just read is newer than the contact that the cache lent.
  const checkedOut = state.contacts.get(id)
  for (const held of checkedOut?.identities ?? []) state.owners.delete(identityKey(businessId, held.kind, held.value))
  state.contacts.set(id, contact)
  for (const held of contact.identities) state.owners.set(identityKey(businessId, held.kind, held.value), id)
}

const byPosition = ([a]: [number, ...unknown[]], [b]: [number, ...unknown[]]) => a - b

function profileOf(values: (string | null)[]): Profile {
  const fields = PROFILE_FIELDS.map((field, at) => [field, values[at] ?? null] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== null)) as Profile
}
