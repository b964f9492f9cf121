/** Loads the state for one micro-batch in one round trip, plus one when a business is new to this worker. */
import type { Item } from '../../rules/item.ts'
import { MAX_BROWSERS } from '../../rules/limits.ts'
import type { BusinessState } from '../../rules/business-state.ts'
import { type State, emptyState } from '../../rules/state.ts'
import { MAX_CONTACTS_PER_VISITOR } from '../../rules/visitors/link-visitor.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type Lookups, collectLookups, hashKeys } from './collect-lookups.ts'
import type { ContactCache } from './contact-cache.ts'
import { type LoadedState, fillState, fillWatched } from './fill-state.ts'
import { type ConfigCache, loadBusinesses } from './load-businesses.ts'
import { conditionalEvents } from './campaign-keys.ts'
import { loadKeys } from './load-keys.ts'
import { type LoadedWatched, needsSegmentsAlone, watchedItems, watchedRecords } from './watched-facts.ts'
import { arrayLiteral, writeColumns, writeRecords } from '../../stores/write-columns.ts'

export interface LoadResult {
  state: State
  /** True when the idempotency keys were not looked up and are assumed to be new. The save must check them. */
  keysAssumedNew: boolean
}

/**
 * With `contacts`, the state may be out of date, and idempotency keys may be left out (`keysAssumedNew`).
 * @param inFull contacts whose tags, cleared traits and browsers the rules requested
 * @param alsoOf businesses that are read in addition to those of the items
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
  const lookups = collectLookups(served, (sent, item) => contacts?.checkout(state, sent, isWatched(item)) ?? false)
  const keysAssumedNew = canSkipKeyLookup(lookups, served) && (contacts?.assumesKeysNew() ?? false)
  const hashed = keysAssumedNew ? [] : hashKeys(lookups.keys)
  if (hashed.length === 0 && !hasOtherLookups(lookups)) {
    await loadKeys(sql, state, served, inFull)
    return { state, keysAssumedNew }
  }
  const countsBrowsers = inFull.length > 0 || lookups.visitors.some(({ joins }) => joins)
  const goals = goalRecords(businesses)
  const watched = inFull.length > 0 || served.some(isWatched) ? watchedRecords(businesses) : []
  const keys = hashed.map(({ businessId, hash }) => ({ business_id: businessId, key_hash: hash }))
  const loaded = await callLoadState(sql, {
    ...lookups,
    visitors: lookups.visitors.map((one) => withNames(state, one)),
    keys,
    goals,
    ...enrolling(businesses),
    topical: topical(businesses),
    inFull,
    countsBrowsers,
    watched,
  })
  fillState(state, loaded, new Map(hashed.map(({ hash, key }) => [hash, key])))
  // After the contacts: a step that is applied in the meantime makes the save fail.
  await loadSteps(sql, state, served)
  await loadKeys(sql, state, served, inFull)
  if (!state.keys.isEmpty) contacts?.noteRepeatedKey()
  return { state, keysAssumedNew }
}

/** The events that goals and steps with conditions compare are read one by one. */
function withNames({ businesses }: State, visitor: Lookups['visitors'][number]) {
  const names = visitor.joins ? conditionalEvents(businesses.get(visitor.business_id)) : []
  return names.length === 0 ? visitor : { ...visitor, names }
}

/** Loads the current steps of the enrolments for which the items apply a step. */
async function loadSteps(sql: Sql, { stepsToApply }: State, items: Item[]): Promise<void> {
  for (const item of items) {
    if (item.kind !== 'edit' || item.step === undefined) continue
    const { enrolmentId } = item.step
    const [row] = await sql<{ step: string }[]>`
      select step from due_steps
      where business_id = ${item.businessId} and enrolment_id = ${enrolmentId} and not settled`
    if (row) stepsToApply.set(enrolmentId, row.step)
  }
}

/**
 * Loads contacts by their ids for work that no request caused. It reads what the segments of their businesses need, and
 * what the campaigns that start with these segments need.
 */
export async function loadContacts(sql: Sql, cache: ConfigCache, contacts: Lookups['contacts']): Promise<State> {
  const state = emptyState()
  const businesses = await loadBusinesses(sql, cache, [...new Set(contacts.map(({ business_id }) => business_id))])
  for (const business of businesses) state.businesses.set(business.id, business)
  const alone = new Set(businesses.filter(needsSegmentsAlone).map(({ id }) => id))
  const isAlone = ({ business_id }: Lookups['contacts'][number]) => alone.has(business_id)
  const others = contacts.filter((contact) => !isAlone(contact))
  if (others.length > 0) {
    const served = businesses.filter(({ id }) => !alone.has(id))
    const lookups = {
      contacts: others,
      goals: goalRecords(served),
      ...enrolling(served),
      topical: topical(served),
      watched: watchedRecords(served),
    }
    const none = { identities: [], keys: [], visitors: [], inFull: [], countsBrowsers: false }
    fillState(state, await callLoadState(sql, { ...none, ...lookups }), new Map())
  }
  const watched = watchedRecords(
    businesses.filter(({ id }) => alone.has(id)),
    true,
  )
  if (watched.length > 0) await loadAlone(sql, state, contacts.filter(isAlone), watched)
  return state
}

/** Adds contacts for which only the facts that segments read are loaded. */
async function loadAlone(
  sql: Sql,
  state: State,
  contacts: Lookups['contacts'],
  watched: ReturnType<typeof watchedRecords>,
): Promise<void> {
  const businessOf = new Map(contacts.map(({ business_id, id }) => [id, business_id]))
  const [row] = await sql<[{ watched: LoadedWatched }]>`
    select load_watched(
      ${arrayLiteral([...businessOf.values()])}::text::uuid[], ${arrayLiteral([...businessOf.keys()])}::text::uuid[],
      ${writeRecords(watched)}::text::json, true) as watched`
  const survivors = fillWatched(state, row.watched, businessOf)
  if (survivors.length > 0) await loadAlone(sql, state, survivors, watched)
}

async function callLoadState(
  sql: Sql,
  lookups: Pick<Lookups, 'identities' | 'visitors' | 'contacts'> & {
    keys: { business_id: string; key_hash: string }[]
    goals: ReturnType<typeof goalRecords>
    enrolling: string[]
    topical: string[]
    keyed: string[]
    inFull: string[]
    countsBrowsers: boolean
    watched: ReturnType<typeof watchedRecords>
  },
): Promise<LoadedState> {
  const [row] = await sql<[{ state: LoadedState }]>`
    select load_state(
      p_identities => ${writeColumns(LOAD_COLUMNS.identities, lookups.identities)}::text::text[],
      p_keys => ${writeColumns(LOAD_COLUMNS.keys, lookups.keys)}::text::text[],
      p_visitors => ${writeRecords(lookups.visitors)}::text::json,
      p_contacts => ${writeColumns(LOAD_COLUMNS.contacts, lookups.contacts)}::text::text[],
      p_goals => ${writeRecords(lookups.goals)}::text::json,
      p_enrolling => ${lookups.enrolling.length === 0 ? null : arrayLiteral(lookups.enrolling)}::text::uuid[],
      p_most_contacts => ${MAX_CONTACTS_PER_VISITOR},
      p_in_full => ${lookups.inFull.length === 0 ? null : arrayLiteral(lookups.inFull)}::text::uuid[],
      p_most_browsers => ${lookups.countsBrowsers ? MAX_BROWSERS : null}::integer,
      p_watched => ${writeRecords(lookups.watched)}::text::json,
      p_topical => ${lookups.topical.length === 0 ? null : arrayLiteral(lookups.topical)}::text::uuid[],
      p_keyed => ${lookups.keyed.length === 0 ? null : arrayLiteral(lookups.keyed)}::text::uuid[]
    ) as state`
  return row.state
}

const enrolling = (businesses: BusinessState[]): { enrolling: string[]; keyed: string[] } => ({
  enrolling: businesses.flatMap(({ id, isEnrolling }) => (isEnrolling ? [id] : [])),
  keyed: businesses.flatMap(({ id, isKeyed }) => (isKeyed ? [id] : [])),
})

const topical = (businesses: BusinessState[]): string[] =>
  businesses.flatMap(({ id, topics }) => (topics.size > 0 ? [id] : []))

/** Goals that compare keys are loaded with the keys of the batch. */
function goalRecords(businesses: BusinessState[]): { business_id: string; event?: string; campaign_id?: string }[] {
  return businesses.flatMap(({ id, campaigns }) => {
    const plain = campaigns.flatMap(({ goalEvent, keyed }) => (goalEvent === null || keyed?.goal ? [] : [goalEvent]))
    const conditional = campaigns.filter(({ keyed }) => keyed?.goal?.readKey === null)
    return [
      ...[...new Set(plain)].map((event) => ({ business_id: id, event })),
      ...conditional.map((campaign) => ({ business_id: id, campaign_id: campaign.id })),
    ]
  })
}

/** The columns of the lists that `load_state` unnests, in its order. */
export const LOAD_COLUMNS = {
  identities: ['business_id', 'kind', 'value'],
  keys: ['business_id', 'key_hash'],
  contacts: ['business_id', 'id'],
} as const

/** Kinds whose keys are always looked up: many of the keys are known, or no save would detect a repeat. */
const REPEATED: ReadonlySet<Item['kind']> = new Set(['browser', 'message_event', 'web_trigger'])

/**
 * Keys are nearly always new, and looking them up costs as much as recording them. Events of anonymous visitors are not
 * recorded under their keys, so no save would detect a repeat.
 */
const canSkipKeyLookup = ({ keys }: Lookups, items: Item[]): boolean =>
  keys.length > 0 && !items.some(({ kind }) => REPEATED.has(kind))

/** Returns whether the batch needs more than idempotency keys. */
const hasOtherLookups = ({ identities, visitors, contacts }: Lookups) =>
  identities.length + visitors.length + contacts.length > 0
