/** Load: everything that one micro-batch has to know, in one round trip (and one more when a business is new to this worker). */
import { createHash } from 'node:crypto'
import { type FieldType, IDENTITY_KINDS, type IdentityKind, type Profile, type Subscriptions } from '../rules/facts.ts'
import type { Item } from '../rules/item.ts'
import { repeatKey } from '../rules/decide-browser-event.ts'
import {
  type BusinessState,
  type Campaign,
  type ContactState,
  type EnrolmentState,
  type State,
  emptyState,
  identityKey,
  scopedKey,
} from '../rules/state.ts'
import type { Sql } from '../stores/postgres.ts'
import type { ContactCache } from './contact-cache.ts'

/** What businesses have configured, as last read; a save that finds it outdated has it dropped. */
export type ConfigCache = Map<string, BusinessState>
const MAX_CACHED_BUSINESSES = 10_000

export async function loadState(sql: Sql, cache: ConfigCache, items: Item[], contacts?: ContactCache): Promise<State> {
  const businessIds = [...new Set(items.map((item) => item.businessId))]
  const businesses = await loadBusinesses(sql, cache, businessIds)
  const state = emptyState()
  // Deciding adds fields; the cache only learns of them once they are committed.
  for (const business of businesses)
    state.businesses.set(business.id, { ...business, fields: new Map(business.fields) })
  const asked = whatToAsk(items, (businessId, key) => contacts?.lend(state, businessId, key) ?? false)
  if (isEmpty(asked)) return state
  const goals = businesses.flatMap((business) =>
    goalEvents(business).map((event) => ({ business_id: business.id, event })),
  )
  const [row] = await sql<[{ state: LoadedState }]>`
    select load_state(${JSON.stringify(asked.identities)}::text::json, ${JSON.stringify(asked.keys)}::text::json,
      ${JSON.stringify(asked.visitors)}::text::json, ${JSON.stringify(asked.contacts)}::text::json,
      ${JSON.stringify(goals)}::text::json) as state`
  fillState(state, row.state, asked.keyByHash)
  return state
}

/** The first 16 bytes of the key's sha256, in the form of a uuid: narrow, and nothing of the caller's is kept. */
export function hashKey(key: string): string {
  const hex = createHash('sha256').update(key).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

/** Those that exist. The cache is shared by all loops of a worker: it may be emptied at any await. */
async function loadBusinesses(sql: Sql, cache: ConfigCache, ids: string[]): Promise<BusinessState[]> {
  if (cache.size > MAX_CACHED_BUSINESSES) cache.clear()
  const known = ids.flatMap((id) => cache.get(id) ?? [])
  if (known.length === ids.length) return known
  const missing = ids.filter((id) => !cache.has(id))
  const rows = await sql<
    { id: string; config_version: number; fields: Record<string, FieldType> | null; campaigns: Campaign[] | null }[]
  >`
    select b.id, b.config_version,
      (select json_object_agg(f.key, f.type) from custom_fields f where f.business_id = b.id) as fields,
      (select json_agg(json_build_object('id', c.id, 'triggerEvent', c.trigger_event, 'goalEvent', c.goal_event,
          'canEnterAgain', c.can_enter_again) order by c.published_at, c.id)
        from campaigns c where c.business_id = b.id and c.status = 'published') as campaigns
    from businesses b
    where b.id in (select value::uuid from json_array_elements_text(${JSON.stringify(missing)}::text::json))`
  const read = rows.map((row) => ({
    id: row.id,
    configVersion: row.config_version,
    fields: new Map(Object.entries(row.fields ?? {})),
    campaigns: row.campaigns ?? [],
  }))
  for (const business of read) cache.set(business.id, business)
  return [...known, ...read]
}

function goalEvents(business: BusinessState): string[] {
  const goals = business.campaigns.flatMap((campaign) => (campaign.goalEvent === null ? [] : [campaign.goalEvent]))
  return [...new Set(goals)]
}

interface Asked {
  identities: { business_id: string; kind: IdentityKind; value: string }[]
  keys: { business_id: string; key_hash: string }[]
  /** `speaks`: its events are somebody's. `joins`: somebody may identify it. */
  visitors: { business_id: string; visitor_id: string; speaks: boolean; joins: boolean }[]
  contacts: { business_id: string; id: string }[]
  /** The key as sent, by business and hash. */
  keyByHash: Map<string, string>
}

/** Each question once: a hot contact or a repeated key is asked for a single time. */
function whatToAsk(items: Item[], isKnown: (businessId: string, identityKey: string) => boolean): Asked {
  const asked: Asked = { identities: [], keys: [], visitors: [], contacts: [], keyByHash: new Map() }
  const visitors = new Map<string, Asked['visitors'][number]>()
  const seen = new Set<string>()
  const once = (key: string) => !seen.has(key) && Boolean(seen.add(key))
  for (const item of items) {
    const business_id = item.businessId
    if (item.kind === 'subscribe' || item.kind === 'erase') {
      if (once(`c ${scopedKey(business_id, item.contactId)}`)) asked.contacts.push({ business_id, id: item.contactId })
      continue
    }
    for (const kind of IDENTITY_KINDS) {
      const value = item.kind === 'browser' ? undefined : item.fact.identity[kind]
      if (value === undefined) continue
      const key = identityKey(business_id, kind, value)
      if (once(`i ${key}`) && !isKnown(business_id, key)) asked.identities.push({ business_id, kind, value })
    }
    const { visitorId } = item.fact
    if (visitorId !== null) askVisitor(visitors, business_id, visitorId, item.kind)
    const key = keyOf(item)
    if (key !== null && once(`k ${scopedKey(business_id, key)}`)) {
      const key_hash = hashKey(key)
      asked.keys.push({ business_id, key_hash })
      asked.keyByHash.set(scopedKey(business_id, key_hash), key)
    }
  }
  asked.visitors.push(...visitors.values())
  return asked
}

function askVisitor(
  visitors: Map<string, Asked['visitors'][number]>,
  business_id: string,
  visitor_id: string,
  kind: Item['kind'],
): void {
  const key = scopedKey(business_id, visitor_id)
  const asked = visitors.get(key) ?? { business_id, visitor_id, speaks: false, joins: false }
  asked[kind === 'browser' ? 'speaks' : 'joins'] = true
  visitors.set(key, asked)
}

function keyOf(item: Item): string | null {
  if (item.kind === 'browser') return repeatKey(item.fact)
  return item.kind === 'event' ? item.fact.idempotencyKey : null
}

interface LoadedState {
  contacts: {
    business_id: string
    id: string
    created_at: number
    version: number
    keyed: boolean
    stage: number
    identities: [IdentityKind, string, boolean][] | null
    profile: Profile
    enrolments:
      | {
          id: string
          campaign_id: string
          state: EnrolmentState['state']
          enrolled_at: number
          received_at: number
          ended_at: number | null
        }[]
      | null
    goals: [string, number][] | null
    subscriptions: [keyof Subscriptions, boolean][] | null
    merged_ids: string[] | null
  }[]
  keys: { business_id: string; key_hash: string; occurred_at: number; erased_as: string | null }[]
  visitors: {
    business_id: string
    visitor_id: string
    current: string | null
    last_from: number | null
    listed_by: string[] | null
    history: [event: string, firstAt: number, lastAt: number, count: number][] | null
  }[]
}

const isEmpty = ({ identities, keys, visitors, contacts }: Asked) =>
  identities.length + keys.length + visitors.length + contacts.length === 0

function fillState(state: State, loaded: LoadedState, keyByHash: Map<string, string>): void {
  for (const row of loaded.contacts) addContact(state, row)
  for (const row of loaded.keys) {
    const key = keyByHash.get(scopedKey(row.business_id, row.key_hash))
    if (key !== undefined)
      state.keys.set(scopedKey(row.business_id, key), { occurredAt: row.occurred_at, erasedAs: row.erased_as })
  }
  for (const row of loaded.visitors)
    state.visitors.set(scopedKey(row.business_id, row.visitor_id), {
      current: row.current,
      lastFrom: row.last_from,
      listedBy: new Set(row.listed_by),
      history: new Map(
        (row.history ?? []).map(([event, firstAt, lastAt, count]) => [event, { firstAt, lastAt, count }]),
      ),
    })
}

function addContact(state: State, row: LoadedState['contacts'][number]): void {
  const contact: ContactState = {
    id: row.id,
    businessId: row.business_id,
    createdAt: row.created_at,
    version: row.version,
    keyed: row.keyed,
    stage: row.stage,
    identities: (row.identities ?? []).map(([kind, value, proven]) => ({ kind, value, proven })),
    profile: row.profile,
    enrolments: (row.enrolments ?? []).map((enrolment) => ({
      id: enrolment.id,
      contactId: row.id,
      campaignId: enrolment.campaign_id,
      state: enrolment.state,
      enrolledAt: enrolment.enrolled_at,
      receivedAt: enrolment.received_at,
      endedAt: enrolment.ended_at,
    })),
    goalLastAt: new Map(row.goals),
    subscriptions: Object.fromEntries(row.subscriptions ?? []),
    mergedIds: row.merged_ids ?? [],
  }
  // What the cache lent is older than what was read just now.
  const lent = state.contacts.get(contact.id)
  for (const held of lent?.identities ?? []) state.owners.delete(identityKey(row.business_id, held.kind, held.value))
  state.contacts.set(contact.id, contact)
  for (const held of contact.identities)
    state.owners.set(identityKey(contact.businessId, held.kind, held.value), contact.id)
}
