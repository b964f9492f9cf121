/**
 * Contacts as the saves of one partition's loop left them, so that a person who appears often is read only once. The
 * cache may be out of date at any time. Each save asserts the version of every contact that it used, and whatever was
 * decided from a stale contact is decided again from Postgres. The same applies to decisions that assumed idempotency
 * keys to be new.
 */
import { type Changes, isVersionRaised } from '../../rules/changes.ts'
import { ANY_KEY } from '../../rules/campaigns/event-condition.ts'
import type { BusinessState } from '../../rules/business-state.ts'
import { type ContactState, type EnrolmentState, type State, byIdentity, pastKey } from '../../rules/state.ts'
import {
  type CachedContact,
  type SentIdentity,
  fromCachedContact,
  identitiesOf,
  toCachedContact,
  refreshCachedContact,
} from './cached-contact.ts'

/**
 * Maximum number of contacts and of their parts: identities, enrolments, long lists of tags and cleared traits. A
 * contact with one identity and nothing else takes about 660 bytes. All partitions of a thread share this weight
 * equally: a business that has the thread to itself can use all of it.
 */
const MAX_WEIGHT = 320_000
/**
 * Micro-batches up to this many contacts are cached at first sight: there is time for it, and reading a contact again
 * is expensive. From larger batches, once half of the share is used, only contacts that were seen before are cached:
 * imports do not need the others.
 */
const SMALL_BATCH = 8
/** Number of micro-batches for which keys are looked up after a repeated one: repeats come in runs. */
const RECHECK_BATCHES = 64
/** Below this number of tags, the cache stores only the number. */
const FEW_TAGS = 500
/** A cache that was idle for this many milliseconds is dropped: another worker has its partition. */
const IDLE_MS = 600_000

export interface ContactCache {
  /**
   * Lends the contact with this identity to the state. Returns false when the cache does not have it. `isWatched`: true
   * when the facts that segments read are needed, too.
   */
  checkout(state: State, sent: SentIdentity, isWatched?: boolean): boolean
  /** Call it after the commit. Takes back the contacts that were lent, in their new state, and adds new ones. */
  commit(state: State, changes: Changes): void
  /**
   * Returns whether a micro-batch may be decided as if all of its idempotency keys were new. The save detects when they
   * are not.
   */
  assumesKeysNew(): boolean
  /** Call it when a known idempotency key is sent again. */
  noteRepeatedKey(): void
  /** Drops entries that exceed the cache's current share. */
  shrink(): void
}

/**
 * Creates a function that returns the cache of a partition. A cache lasts as long as the partition's epoch: some
 * changes by another owner do not raise the version of a contact (new tags, for example).
 */
export function createContactCaches(
  maxWeight = MAX_WEIGHT,
  now = () => performance.now(),
): (partition: string, epoch: number) => ContactCache {
  const caches = new Map<string, { epoch: number; cache: ContactCache; usedAt: number }>()
  const share = () => maxWeight / caches.size
  return (partition, epoch) => {
    for (const [name, { usedAt }] of caches) if (now() - usedAt > IDLE_MS) caches.delete(name)
    const known = caches.get(partition)
    if (known?.epoch === epoch) {
      known.usedAt = now()
      return known.cache
    }
    const cache = createContactCache(share)
    caches.set(partition, { epoch, cache, usedAt: now() })
    for (const other of caches.values()) other.cache.shrink()
    return cache
  }
}

interface Entry extends CachedContact {
  /** Version of the business's configuration. Another version may have other goals, whose times were not read. */
  configVersion: number
  weight: number
  /**
   * The object that was lent. Decisions change it in place, so an entry cannot be used again if its save was not
   * committed.
   */
  checkedOut: ContactState | null
  /** True when the entry was used since `shrink` last kept it. */
  used: boolean
}

/** @param maxWeight the limit for the weight of all entries (see `weightOf`), read on each use */
export function createContactCache(maxWeight: () => number): ContactCache {
  const entries = new Map<string, Entry>()
  const owners = byIdentity<Entry>()
  const wasSeenBefore = createAdmissionFilter(maxWeight)
  let weight = 0
  let recheckBatches = 0

  const hasRoom = () => weight < maxWeight() / 2
  const drop = (entry: Entry): void => {
    entries.delete(entry.id)
    weight -= entry.weight
    const { businessId } = entry
    for (const { kind, value } of identitiesOf(entry))
      if (owners[kind].get(businessId, value) === entry) owners[kind].delete(businessId, value)
  }
  const put = (contact: ContactState, { id: businessId, configVersion }: BusinessState): void => {
    const cached = toCachedContact(contact, businessId)
    const entry = { ...cached, configVersion, weight: weightOf(contact), checkedOut: null, used: false }
    weight += entry.weight
    entries.set(contact.id, entry)
    for (const { kind, value } of contact.identities) owners[kind].set(businessId, value, entry)
  }
  /** Drops the oldest entries. An entry that was used since the last call is kept once. */
  const shrink = (): void => {
    for (const [id, entry] of entries) {
      if (weight <= maxWeight()) return
      if (entry.used) {
        entry.used = false
        entries.delete(id)
        entries.set(id, entry)
      } else drop(entry)
    }
  }

  return {
    checkout(state, sent, isWatched = false) {
      const { business_id: businessId, kind, value } = sent
      const entry = owners[kind].get(businessId, value)
      if (!entry) return false
      const lent = entry.checkedOut
      if (lent && state.contacts.get(entry.id) === lent) return !isWatched || lent.facts !== null
      if (lent || entry.configVersion !== state.businesses.get(businessId)?.configVersion) {
        drop(entry)
        return false
      }
      if (isWatched && !entry.parts?.facts) return false
      const contact = fromCachedContact(entry)
      entry.checkedOut = contact
      entry.used = true
      state.contacts.set(entry.id, contact)
      for (const own of contact.identities) state.owners[own.kind].set(businessId, own.value, entry.id)
      return true
    },
    commit(state, changes) {
      const wasChangedOutside = changedOutsideOf(changes)
      for (const contact of state.contacts.values()) {
        const entry = entries.get(contact.id)
        const isAsItWas = entry?.checkedOut === contact && !changes.deltas.get(contact.id)?.raisesVersion
        applySave(contact, changes)
        if (isAsItWas && !wasChangedOutside(contact)) {
          refreshCachedContact(entry, contact)
          weight -= entry.weight
          entry.weight = weightOf(contact)
          weight += entry.weight
          entry.checkedOut = null
          continue
        }
        if (entry) drop(entry)
        const business = state.businesses.get(contact.businessId)
        const isWorthIt =
          entry !== undefined || hasRoom() || state.contacts.size <= SMALL_BATCH || wasSeenBefore(contact.id)
        if (isWorthIt && business && !wasChangedOutside(contact)) put(contact, business)
      }
      shrink()
    },
    assumesKeysNew() {
      if (recheckBatches === 0) return true
      recheckBatches -= 1
      return false
    },
    noteRepeatedKey: () => void (recheckBatches = RECHECK_BATCHES),
    shrink,
  }
}

const weightOf = ({ identities, enrolments, topics, tags, cleared }: ContactState): number =>
  1 +
  identities.length +
  enrolments.length +
  Object.keys(topics).length +
  (tags instanceof Set ? tags.size : 0) +
  (cleared?.size ?? 0)

/**
 * Returns false when an id is first seen, and true after that, for the last ids: two to four for each contact that
 * fits. Most people of an import are seen only once.
 */
function createAdmissionFilter(maxWeight: () => number): (id: string) => boolean {
  let seen = new Set<string>()
  let before = new Set<string>()
  return (id) => {
    if (seen.has(id) || before.has(id)) return true
    seen.add(id)
    if (seen.size >= maxWeight()) [before, seen] = [seen, new Set()]
    return false
  }
}

/** Returns a check for contacts that the save changed in ways that the working copy does not show. */
function changedOutsideOf(changes: Changes): (contact: ContactState) => boolean {
  const merged = new Set(changes.merges.flatMap(({ losingId, survivingId }) => [losingId, survivingId]))
  const erased = new Set(changes.erasures.map(({ contactId }) => contactId))
  const configured = new Set(changes.newFields.map(({ businessId }) => businessId))
  // Which of the others takes the place of a primary address that was removed is known only to Postgres.
  for (const { contactId, value } of changes.primaries.values()) if (value === null) merged.add(contactId)
  return ({ id, businessId }) => merged.has(id) || erased.has(id) || configured.has(businessId)
}

function applySave(contact: ContactState, changes: Changes): void {
  const delta = changes.deltas.get(contact.id)
  contact.version = contact.version === null ? 1 : contact.version + (isVersionRaised(changes, contact.id) ? 1 : 0)
  contact.stage = Math.max(contact.stage, delta?.stage ?? 0)
  contact.mergedIds = []
  forgetKeys(contact)
  // The rules need only the number of tags if there are few. The tags themselves would take many times the memory.
  if (contact.tags instanceof Set && contact.tags.size < FEW_TAGS) contact.tags = contact.tags.size
  if (contact.cleared?.size === 0) contact.cleared = null
}

/** What a batch has read of keys is read again, so that a contact with many orders stays small. */
function forgetKeys(contact: ContactState): void {
  for (const name of contact.pastOfKeys.keys())
    if (!name.endsWith(pastKey('', ANY_KEY))) contact.pastOfKeys.delete(name)
  if (contact.enrolments.some(isPastWithKey))
    contact.enrolments = contact.enrolments.filter((one) => !isPastWithKey(one))
}

const isPastWithKey = ({ key, state }: EnrolmentState): boolean => key !== null && state !== 'active'
