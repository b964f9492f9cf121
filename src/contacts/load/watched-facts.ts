/**
 * The facts that the segments of a business read: whether a micro-batch needs them, how they are requested, and how
 * they are read.
 */
import { meaningOfName } from '../../rules/events/interpret.ts'
import { stageOf } from '../../rules/events/journey-stage.ts'
import { CHANNELS, PROFILE_FIELDS } from '../../rules/events/facts.ts'
import type { TraitEntry } from '../../rules/events/traits.ts'
import type { EraseRequest, Item } from '../../rules/item.ts'
import type { CompiledSegments } from '../../rules/segments/compile/compile-segments.ts'
import type { FactKey, TimeKey } from '../../rules/segments/membership/facts.ts'
import type { WatchedFacts } from '../../rules/segments/membership/watched-facts.ts'
import type { BusinessState } from '../../rules/business-state.ts'
import type { State } from '../../rules/state.ts'
import { topicChannel } from '../../rules/topics/topic.ts'
import { windowKeysByHash } from '../save/window-hashes.ts'

/**
 * With more watched events, reading all statistics of a contact is cheaper than a lookup for each event (measured: 4 to
 * 12).
 */
const MAX_PROBED_EVENTS = 4

/**
 * Returns a function that says whether an item is likely to change facts that the segments of its business read. When
 * an item does so in an unforeseen way (a merge, the history of a browser, a new identity), the rules request the
 * facts, and the micro-batch is decided again.
 */
export function watchedItems({ businesses }: State): (item: Item) => boolean {
  return (item) => {
    const segments = businesses.get(item.businessId)?.segments
    if (!segments) return false
    // An erasure first needs the facts for changes by time that are already due.
    if (item.kind === 'erase') return segments.timed.length > 0
    return factsOf(item).some((fact) => segments.byFact.has(fact))
  }
}

/** Lists the facts of a known contact that an item can change. */
function factsOf(item: Exclude<Item, Item<EraseRequest>>): FactKey[] {
  switch (item.kind) {
    case 'track': {
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
      return [
        ...CHANNELS.map((channel) => `subscription:${channel}` as const),
        ...(item.topics ?? []).map(({ topic, channel }) => `topic:${topicChannel(topic, channel)}` as const),
      ]
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
 * Composes the parameter of `load_watched`.
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

/** Returns whether segment changes neither depend on identities and subscriptions of contacts, nor start campaigns. */
export function needsSegmentsAlone({ campaigns, segments }: BusinessState): boolean {
  if (campaigns.some(({ triggerSegment }) => triggerSegment)) return false
  return ![...(segments?.byFact.keys() ?? [])].some((fact) => /^(identity|subscription|topic):/.test(fact))
}

/** Columns, as `load_watched` lists them. Columns without rows, and columns that no rule reads, are null. */
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
    // Only for contacts of which nothing else is read.
    versions: number[] | null,
    createdAt: number[] | null,
    mergedInto: (string | null)[] | null,
    mergedIds: string[][] | null,
    /** In the order of PROFILE_FIELDS. */
    profiles: (string | null)[][] | null,
    /** When rules that read windows last changed. */
    changedAt: ([no: number, at: number][] | null)[] | null,
  ],
  statistics: [places: number[] | null, events: string[], firstAt: number[], lastAt: number[], counts: number[]] | null,
  revenue: [places: number[] | null, currencies: string[], amounts: string[]] | null,
  windows: [places: number[] | null, keyHashes: string[], values: string[], nextAt: (number | null)[]] | null,
  undecided: number[] | null,
]

/** A contact with the facts that segments read. */
export interface WatchedContact {
  id: string
  facts: WatchedFacts
  /** Null when the contact is read elsewhere. */
  alone: {
    version: number
    createdAt: number
    mergedInto: string | null
    mergedIds: string[]
    profile: (string | null)[]
  } | null
}

/** @param segmentsOf those of the contact's business */
export function readWatched(
  [contacts, statistics, revenue, windows, undecided]: LoadedWatched,
  segmentsOf: (contactId: string) => CompiledSegments | null | undefined,
): WatchedContact[] {
  const [places, ids, stages, orderCounts, dueAt, settledAt, bulkFacts, traits, tags, versions, ...others] = contacts
  const [createdAt, mergedInto, mergedIds, profiles, changedAt] = others
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
      clock: {
        dueAt: dueAt[at] ?? null,
        settledAt: settledAt[at] ?? 0,
        bulkFacts: new Set(bulkFacts[at]),
        changedAt: new Map(changedAt?.[at]?.filter(([no]) => segmentsOf(ids[at]!)?.byNumber.has(no))),
      },
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
      // Windows that no rule reads any longer have no key.
      const key = contact && windowKeysByHash(segmentsOf(contact.id)).get(keyHashes[at]!)
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
