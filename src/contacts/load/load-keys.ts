/** Loads what is remembered of the keys that a micro-batch names (`PastOfKey`). */
import type { Item } from '../../rules/item.ts'
import { type ContactState, type State, pastKey, scopedKey, survivorOf } from '../../rules/state.ts'
import { IDENTITY_KINDS } from '../../rules/events/facts.ts'
import type { Sql } from '../../stores/postgres.ts'
import { writeColumns } from '../../stores/write-columns.ts'

interface AskedKey {
  contact: ContactState
  campaignId: string
  key: string
}

/** The columns of the list that `load_keys` unnests, in its order. */
export const KEY_COLUMNS = ['business_id', 'contact_id', 'campaign_id', 'key'] as const

/**
 * Call it once the contacts are there. One round trip, and none for businesses without keys.
 * @param inFull contacts that the rules requested: for these, all keys of the batch and of their active enrolments
 */
export async function loadKeys(sql: Sql, state: State, items: Item[], inFull: readonly string[]): Promise<void> {
  const asked = new Map<string, AskedKey>()
  const ask = (contact: ContactState | undefined, campaignId: string, key: string): void => {
    if (contact && contact.version !== null)
      asked.set(`${contact.id} ${pastKey(campaignId, key)}`, { contact, campaignId, key })
  }
  const named = items.flatMap((item) => keysOf(state, item))
  for (const { item, campaignId, key } of named)
    for (const contactId of candidatesOf(state, item)) ask(state.contacts.get(contactId), campaignId, key)
  const full = inFull.flatMap((id) => state.contacts.get(id) ?? [])
  const active = full.flatMap(({ businessId, enrolments }) =>
    enrolments.flatMap(({ campaignId, key }) => (key === null ? [] : [{ businessId, campaignId, key }])),
  )
  const ofItems = named.map(({ item, ...one }) => ({ ...one, businessId: item.businessId }))
  for (const contact of full)
    for (const { businessId, campaignId, key } of [...active, ...ofItems])
      if (businessId === contact.businessId) ask(contact, campaignId, key)
  if (asked.size > 0) await load(sql, [...asked.values()])
}

async function load(sql: Sql, asked: readonly AskedKey[]): Promise<void> {
  const rows = asked.map(({ contact, campaignId, key }) => ({
    business_id: contact.businessId,
    contact_id: contact.id,
    campaign_id: campaignId,
    key,
  }))
  const [{ found }] = await sql<[{ found: [place: number, wasEntered: boolean, goalAt: number | null][] }]>`
    select load_keys(${writeColumns(KEY_COLUMNS, rows)}::text::text[]) as found`
  const byPlace = new Map(found.map(([place, wasEntered, goalAt]) => [place, { wasEntered, goalAt }]))
  for (const [index, { contact, campaignId, key }] of asked.entries())
    contact.pastOfKeys.set(pastKey(campaignId, key), byPlace.get(index + 1) ?? { wasEntered: false, goalAt: null })
}

/** The keys of an item that may trigger campaigns. */
function keysOf({ businesses }: State, item: Item): { item: Item; campaignId: string; key: string }[] {
  const business = businesses.get(item.businessId)
  if (!business?.isKeyed || !hasEvent(item)) return []
  const { event } = item.fact
  const triggered = business.campaigns.filter(({ triggerEvent, keyed }) => triggerEvent === event && keyed?.readKey)
  if (triggered.length === 0) return []
  const properties = parse(item.fact.properties)
  return triggered.flatMap(({ id, keyed }) => {
    const key = keyed?.readKey?.(properties) ?? null
    return key === null ? [] : [{ item, campaignId: id, key }]
  })
}

type EventItem = Extract<Item, { kind: 'track' | 'browser' | 'message_event' }>

/** A batch enrols nobody. */
const hasEvent = (item: Item): item is EventItem =>
  (item.kind === 'track' && item.source !== 'batch') || item.kind === 'browser' || item.kind === 'message_event'

const parse = (properties: string | null): unknown => (properties === null ? {} : JSON.parse(properties))

/** The contacts that the item may turn out to be about. */
function candidatesOf(state: State, item: Item): Set<string> {
  const ids = new Set<string>()
  if ('contactId' in item) {
    ids.add(survivorOf(state, item.contactId))
    for (const { id, mergedIds } of state.contacts.values()) if (mergedIds.includes(item.contactId)) ids.add(id)
    return ids
  }
  if (item.kind === 'web_trigger') return ids
  if (item.kind !== 'browser')
    for (const kind of IDENTITY_KINDS) {
      const value = item.fact.identity[kind]
      const owner = value === undefined ? undefined : state.owners[kind].get(item.businessId, value)
      if (owner !== undefined) ids.add(owner)
    }
  const { visitorId } = item.fact
  const visitor = visitorId === null ? undefined : state.visitors.get(scopedKey(item.businessId, visitorId))
  for (const { contactId } of visitor?.links ?? []) if (contactId !== null) ids.add(contactId)
  return ids
}
