/** What the segments of a business read of its contacts: whether a micro-batch needs it, how it is asked for, and how it is read. */
import { meaningOfName } from '../rules/events/interpret.ts'
import { stageOf } from '../rules/events/journey-stage.ts'
import { CHANNELS, PROFILE_FIELDS } from '../rules/events/facts.ts'
import type { TraitEntry } from '../rules/events/traits.ts'
import type { EraseItem, Item } from '../rules/item.ts'
import type { FactKey, TimeKey } from '../rules/segments/facts.ts'
import type { WatchedFacts } from '../rules/segments/watched-facts.ts'
import type { BusinessState, State } from '../rules/state.ts'

/** With more watched events, reading all statistics of a contact is cheaper than probing for each (measured: 4 to 12). */
const MAX_PROBED_EVENTS = 4

/**
 * Whether an item is likely to change what the segments of its business read. When it does so in a way that was not foreseen (a
 * merge, the history of a browser, a new identity), the rules ask for the facts, and the micro-batch is decided again.
 */
export function watchedItems({ businesses }: State): (item: Item) => boolean {
  return (item) => {
    const segments = businesses.get(item.businessId)?.segments
    if (!segments) return false
    // What is due before an erasure comes first.
    if (item.kind === 'erase') return segments.timed.length > 0
    return factsOf(item).some((fact) => segments.byFact.has(fact))
  }
}

/** The facts that an item can change of a contact that is known. */
function factsOf(item: Exclude<Item, EraseItem>): FactKey[] {
  switch (item.kind) {
    case 'event': {
      const { event, traits, tags } = item.fact
      return [...eventFacts(item.fact.meaning, event), ...fieldFacts(traits), ...tagFacts(tags)]
    }
    case 'message_event':
      return eventFacts(meaningOfName(item.fact.event), item.fact.event)
    case 'browser':
      return eventFacts(item.fact.meaning, item.fact.event)
    case 'web_trigger':
      return []
    case 'identify':
      return [...fieldFacts(item.fact.traits), ...profileFacts(item.fact.profile)]
    case 'subscribe':
      return CHANNELS.map((channel) => `subscription:${channel}` as const)
    case 'edit': {
      const { traits, profile, addTags, removeTags } = item.fact
      return [...fieldFacts(traits), ...profileFacts(profile), ...tagFacts([...addTags, ...removeTags])]
    }
  }
}

function eventFacts(meaning: { order: boolean; counted: string; currency: string | null }, event: string): FactKey[] {
  const facts: FactKey[] = [`event:${event}`]
  if (meaning.order) facts.push('orders')
  if (meaning.currency !== null && meaning.counted !== '0') facts.push(`revenue:${meaning.currency}`)
  if ((stageOf(event) ?? 0) > 0) facts.push('stage')
  return facts
}
const fieldFacts = (traits: object) => Object.keys(traits).map((key) => `field:${key}` as const)
const tagFacts = (tags: readonly string[]) => tags.map((tag) => `tag:${tag}` as const)
const profileFacts = (profile: object) =>
  PROFILE_FIELDS.flatMap((field) => (field in profile ? [`profile:${field}` as const] : []))

/**
 * What `load_watched` is to read.
 * @param isAlone whether the profile is needed, too: nothing else of the contacts is read
 */
export function watchedRecords(businesses: BusinessState[], isAlone = false) {
  return businesses.flatMap(({ id, segments }) => {
    if (!segments) return []
    const { events, fields, tags, revenue, windows } = segments.watched
    const probed = events.length <= MAX_PROBED_EVENTS ? events : null
    const profile = isAlone && [...segments.byFact.keys()].some((fact) => fact.startsWith('profile:'))
    return [{ business_id: id, events: probed, fields, tags, revenue, windows, profile }]
  })
}

/** Whether what segments change neither depends on identities and subscriptions of contacts, nor starts campaigns. */
export function needsSegmentsAlone({ campaigns, segments }: BusinessState): boolean {
  if (campaigns.some(({ triggerSegment }) => triggerSegment)) return false
  return ![...(segments?.byFact.keys() ?? [])].some((fact) => /^(identity|subscription):/.test(fact))
}

/** Columns, as `load_watched` lists them. Those of no row are null, and those that no rule reads. */
export type LoadedWatched = [
  contacts: [
    places: number[] | null,
    ids: string[],
    stages: number[],
    orderCounts: number[],
    dueAt: (number | null)[],
    settledAt: (number | null)[],
    bulkFacts: (TimeKey[] | null)[],
    traits: [key: string, entry: TraitEntry][][] | null,
    tags: string[][] | null,
    // Of contacts of which nothing else is read.
    versions: number[] | null,
    createdAt: number[] | null,
    mergedInto: (string | null)[] | null,
    mergedIds: string[][] | null,
    /** In the order of PROFILE_FIELDS. */
    profiles: (string | null)[][] | null,
  ],
  statistics: [places: number[] | null, events: string[], firstAt: number[], lastAt: number[], counts: number[]] | null,
  revenue: [places: number[] | null, currencies: string[], amounts: string[]] | null,
  windows: [places: number[] | null, keyHashes: string[], values: string[], nextAt: (number | null)[]] | null,
  undecided: number[] | null,
]

/** A contact with what segments read of it. */
export interface WatchedContact {
  id: string
  facts: WatchedFacts
  /** Null when it is read elsewhere. */
  alone: {
    version: number
    createdAt: number
    mergedInto: string | null
    mergedIds: string[]
    profile: (string | null)[]
  } | null
}

/** @param windowKeys the keys of the windows that the segments of the contact's business read, by hash */
export function readWatched(
  [contacts, statistics, revenue, windows, undecided]: LoadedWatched,
  windowKeys: (contactId: string) => ReadonlyMap<string, string>,
): WatchedContact[] {
  const [places, ids, stages, orderCounts, dueAt, settledAt, bulkFacts, traits, tags, versions, ...others] = contacts
  const [createdAt, mergedInto, mergedIds, profiles] = others
  const byPlace = new Map<number, WatchedContact>()
  for (const [at, place] of (places ?? []).entries()) {
    const facts: WatchedFacts = {
      statistics: new Map(),
      traits: new Map(traits?.[at]),
      tags: new Set(tags?.[at]),
      revenue: new Map(),
      orderCount: orderCounts[at]!,
      stage: stages[at]!,
      windows: new Map(),
      windowsDue: new Map(),
      isUndecided: false,
      clock: { dueAt: dueAt[at] ?? null, settledAt: settledAt[at] ?? 0, bulkFacts: new Set(bulkFacts[at]) },
    }
    byPlace.set(place, {
      id: ids[at]!,
      facts,
      alone: versions && {
        version: versions[at]!,
        createdAt: createdAt![at]!,
        mergedInto: mergedInto![at] ?? null,
        mergedIds: mergedIds![at]!,
        profile: profiles?.[at] ?? [],
      },
    })
  }
  if (statistics?.[0]) {
    const [of, events, firstAt, lastAt, counts] = statistics
    for (const [at, place] of of.entries())
      byPlace
        .get(place)
        ?.facts.statistics.set(events[at]!, { firstAt: firstAt[at]!, lastAt: lastAt[at]!, count: counts[at]! })
  }
  if (revenue?.[0]) {
    const [of, currencies, amounts] = revenue
    for (const [at, place] of of.entries()) byPlace.get(place)?.facts.revenue.set(currencies[at]!, amounts[at]!)
  }
  if (windows?.[0]) {
    const [of, keyHashes, values, nextAt] = windows
    for (const [at, place] of of.entries()) {
      const contact = byPlace.get(place)
      // Those that no rule reads any more have no key.
      const key = contact && windowKeys(contact.id).get(keyHashes[at]!)
      if (key === undefined) continue
      contact!.facts.windows.set(key, values[at]!)
      if (nextAt[at] !== null) contact!.facts.windowsDue.set(key, nextAt[at]!)
    }
  }
  for (const place of undecided ?? []) {
    const contact = byPlace.get(place)
    if (contact) contact.facts.isUndecided = true
  }
  return [...byPlace.values()]
}
