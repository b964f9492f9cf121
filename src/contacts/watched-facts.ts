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
 * The parameter `p_watched` of `load_state`.
 * @param isAlone whether nothing else of the contacts of a business is needed
 */
export function watchedRecords(businesses: BusinessState[], isAlone = (_: BusinessState) => false) {
  return businesses.flatMap((business) => {
    const { id, segments } = business
    if (!segments) return []
    const { events, fields, tags, revenue, windows } = segments.watched
    const probed = events.length <= MAX_PROBED_EVENTS ? events : null
    return [{ business_id: id, events: probed, fields, tags, revenue, windows, is_alone: isAlone(business) }]
  })
}

/** Whether what segments change neither depends on identities and subscriptions of contacts, nor starts campaigns. */
export function needsSegmentsAlone({ campaigns, segments }: BusinessState): boolean {
  if (campaigns.some(({ triggerSegment }) => triggerSegment)) return false
  return ![...(segments?.byFact.keys() ?? [])].some((fact) => /^(identity|subscription):/.test(fact))
}

/** As `load_state` lists them. */
export type LoadedFacts = [
  statistics: [event: string, firstAt: number, lastAt: number, count: number][],
  traits: [key: string, entry: TraitEntry][],
  tags: string[],
  revenue: [currency: string, amount: string][],
  orderCount: number,
  windows: [keyHash: string, value: string, nextAt: number | null][],
  clock: [dueAt: number | null, settledAt: number, bulkFacts: TimeKey[]] | null,
  isUndecided: boolean,
]

/** @param windowKeys the keys of the windows that the business's segments read, by hash */
export function readWatchedFacts(
  [statistics, traits, tags, revenue, orderCount, windows, clock, isUndecided]: LoadedFacts,
  stage: number,
  windowKeys: ReadonlyMap<string, string>,
): WatchedFacts {
  const [dueAt, settledAt, bulkFacts] = clock ?? [null, 0, []]
  // Those that no rule reads any more have no key.
  const known = windows.flatMap(([keyHash, value, nextAt]) => {
    const key = windowKeys.get(keyHash)
    return key === undefined ? [] : [[key, value, nextAt] as const]
  })
  return {
    statistics: new Map(statistics.map(([event, firstAt, lastAt, count]) => [event, { firstAt, lastAt, count }])),
    traits: new Map(traits),
    tags: new Set(tags),
    revenue: new Map(revenue),
    orderCount,
    stage,
    windows: new Map(known.map(([key, value]) => [key, value])),
    windowsDue: new Map(known.flatMap(([key, , nextAt]) => (nextAt === null ? [] : [[key, nextAt] as const]))),
    isUndecided,
    clock: { dueAt, settledAt, bulkFacts: new Set(bulkFacts) },
  }
}
