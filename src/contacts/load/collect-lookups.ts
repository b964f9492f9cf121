/** The lookups in Postgres that one micro-batch needs. */
import { hash } from 'node:crypto'
import { firedKey } from '../../rules/campaigns/web-trigger-fact.ts'
import { repeatKey } from '../../rules/visitors/decide-browser-event.ts'
import { IDENTITY_KINDS } from '../../rules/events/facts.ts'
import type { BrowserRequest, TrackRequest, IdentifyRequest, Item } from '../../rules/item.ts'
import { latestStart } from '../../rules/visitors/link-visitor.ts'
import { ScopedMap } from '../../rules/scoped-map.ts'
import { byIdentity, scopedKey } from '../../rules/state.ts'
import type { SentIdentity } from './cached-contact.ts'

export interface Lookups {
  identities: SentIdentity[]
  /** As often as they occur, because they are rarely looked up. */
  keys: { businessId: string; key: string }[]
  /**
   * `moments`: the times of the visitor's events and of late identifications. `starts`: for each moment, the latest
   * time at which the contact who used the visitor then may have been identified, in epoch ms. `joins`: true when the
   * batch may identify the visitor.
   */
  visitors: { business_id: string; visitor_id: string; moments: number[]; starts: number[]; joins: boolean }[]
  contacts: { business_id: string; id: string }[]
}

/** Lists each lookup once, except the keys, even if its contact occurs often. */
export function collectLookups(items: Item[], isKnown: (sent: SentIdentity, item: Item) => boolean): Lookups {
  const lookups: Lookups = { identities: [], keys: [], visitors: [], contacts: [] }
  const visitors = new Map<string, Lookups['visitors'][number]>()
  const seen = { contacts: new ScopedMap<true>(), identities: byIdentity<true>() }
  for (const item of items) {
    const business_id = item.businessId
    if ('contactId' in item) {
      if (isFirst(seen.contacts, business_id, item.contactId))
        lookups.contacts.push({ business_id, id: item.contactId })
      if (item.kind === 'message_event') lookups.keys.push({ businessId: business_id, key: item.fact.key })
      continue
    }
    if (item.kind === 'web_trigger') {
      const { visitorId, fired } = item.fact
      for (const { occurredAt } of fired) addMoment(visitors, { business_id, visitorId, at: occurredAt })
      lookups.keys.push(...fired.map((one) => ({ businessId: business_id, key: firedKey(visitorId, one) })))
      continue
    }
    for (const kind of IDENTITY_KINDS) {
      const value = item.kind === 'browser' ? undefined : item.fact.identity[kind]
      if (value === undefined) continue
      const sent = { business_id, kind, value }
      if (!isKnown(sent, item) && isFirst(seen.identities[kind], business_id, value)) lookups.identities.push(sent)
    }
    addVisitorLookup(visitors, item)
    const key = keyOf(item)
    if (key !== null) lookups.keys.push({ businessId: business_id, key })
  }
  lookups.visitors.push(...visitors.values())
  return lookups
}

function isFirst(seen: ScopedMap<true>, businessId: string, key: string): boolean {
  if (seen.has(businessId, key)) return false
  seen.set(businessId, key, true)
  return true
}

/** Returns each key once, with its hash. */
export function hashKeys(keys: Lookups['keys']): { businessId: string; key: string; hash: string }[] {
  const seen = new ScopedMap<true>()
  return keys
    .filter(({ businessId, key }) => isFirst(seen, businessId, key))
    .map(({ businessId, key }) => ({ businessId, key, hash: hashKey(key) }))
}

/** Adds an instant (epoch ms) at which the browser may have a contact. */
function addMoment(
  visitors: Map<string, Lookups['visitors'][number]>,
  { business_id, visitorId: visitor_id, at }: { business_id: string; visitorId: string; at: number },
): void {
  const key = scopedKey(business_id, visitor_id)
  const lookups = visitors.get(key) ?? { business_id, visitor_id, moments: [], starts: [], joins: false }
  lookups.moments.push(at)
  lookups.starts.push(latestStart(at))
  visitors.set(key, lookups)
}

function addVisitorLookup(
  visitors: Map<string, Lookups['visitors'][number]>,
  item: Item<TrackRequest> | Item<BrowserRequest> | Item<IdentifyRequest>,
): void {
  const { visitorId: visitor_id } = item.fact
  if (visitor_id === null) return
  const business_id = item.businessId
  if (item.kind === 'browser')
    return addMoment(visitors, { business_id, visitorId: visitor_id, at: item.fact.occurredAt })
  const key = scopedKey(business_id, visitor_id)
  const lookups = visitors.get(key) ?? { business_id, visitor_id, moments: [], starts: [], joins: false }
  lookups.joins = true
  const since = item.kind === 'identify' ? item.receivedAt - (item.fact.ageMs ?? 0) : item.receivedAt
  if (item.isReplay || since < item.receivedAt) {
    lookups.moments.push(since)
    lookups.starts.push(since)
  }
  visitors.set(key, lookups)
}

function keyOf(item: Item): string | null {
  if (item.kind === 'browser') return repeatKey(item.fact)
  return item.kind === 'track' ? item.fact.idempotencyKey : null
}

/**
 * Returns the first 16 bytes of the key's sha256, written as a uuid without dashes: it is short, and the caller's text
 * is not stored.
 */
export const hashKey = (key: string): string => hash('sha256', key, 'hex').slice(0, 32)
