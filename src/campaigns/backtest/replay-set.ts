/** Replays a set of contacts. */
import { findTopic } from '../../rules/topics/topic-of-send.ts'
import { setImmediate } from 'node:timers/promises'
import type { Tally } from '../../rules/campaigns/backtest-tally.ts'
import { compileKey, keyPathOf } from '../../rules/campaigns/enrolment-key.ts'
import { compileCondition, fitOf } from '../../rules/campaigns/event-condition.ts'
import { type TriggerTest, type TriggeringEvent, compileTrigger } from '../../rules/campaigns/event-trigger.ts'
import type { FollowedContact, FollowedEvent } from '../../rules/campaigns/follow-enrolment.ts'
import { isHeldOut } from '../../rules/campaigns/hold-out.ts'
import { knownZone } from '../../rules/campaigns/local-time.ts'
import { type Replayed, type ReplayEntry, replayContact } from '../../rules/campaigns/replay-contact.ts'
import { updateFacts } from '../../rules/campaigns/update-facts.ts'
import type { SegmentFacts } from '../../rules/segments/membership/facts.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type KeyedEarning, keysOf, readKeyedRevenue } from '../read-keyed-revenue.ts'
import { readRevenue } from '../read-revenue.ts'
import type { AskDeps } from './ask-clickhouse.ts'
import { BacktestError } from './backtest-error.ts'
import type { FoundEntry } from './found-entry.ts'
import { type Holders, loadHolders, wasKnown } from './load-holders.ts'
import { type History, type PastEvent, loadHistories } from './load-histories.ts'
import { type PastPerson, addressOf } from './load-people.ts'
import { followChoices, followEvents, followTopics } from './past-facts.ts'
import type { Plan } from './plan-backtest.ts'
import { countToday, readToday } from './read-today.ts'

/** Yields to the event loop after this many milliseconds of replaying. */
const BUSY_MS = 10

/**
 * Adds the outcome of one set of contacts to the tally.
 * @param entries see `Entrants`
 */
export async function replaySet(
  deps: AskDeps & { sql: Sql },
  plan: Plan,
  { people, entries }: { people: readonly PastPerson[]; entries: ReadonlyMap<string, readonly FoundEntry[]> | null },
  tally: Tally,
): Promise<void> {
  const { campaignId, holdOut } = plan.campaign
  const histories = await loadHistories(deps, plan, people)
  const holders = await findHolders(deps.sql, plan, histories)
  const counts = await countToday(deps, plan, people)
  const earning: KeyedEarning[] = []
  const rest = takeRests(deps.signal)
  for (const person of people) {
    await rest()
    const { contactId, ids } = person
    const history = histories.get(contactId)!
    const own = entriesOf(plan, history, entries?.get(contactId) ?? null, holders)
    if (own.length === 0) continue
    const facts = plan.branches.size === 0 ? null : await readToday(deps.sql, plan, contactId, counts)
    if (plan.branches.size > 0 && facts === null) continue
    const enrolments: Replayed[] = []
    for (const enrolment of replayPerson(plan, person, { history, facts, entries: own })) {
      enrolments.push(enrolment)
      await rest()
    }
    tally.add(contactId, enrolments, isHeldOut({ contactId, campaignId, holdOut }))
    for (const { key, state, enrolledAt: from, endsAt: to } of enrolments)
      if (state === 'converted' && to !== null)
        earning.push({ id: String(earning.length), contactId, key, ids, from, to })
  }
  await addRevenue(deps, plan, earning, tally)
}

/** Call it between two pieces of work. Throws when the signal has aborted. */
function takeRests(signal: AbortSignal): () => Promise<void> {
  let busySince = performance.now()
  return async () => {
    signal.throwIfAborted()
    if (performance.now() - busySince < BUSY_MS) return
    await setImmediate()
    busySince = performance.now()
  }
}

/** The browsers whose events may trigger. */
async function findHolders(
  sql: Sql,
  { business, campaign: { trigger } }: Plan,
  histories: ReadonlyMap<string, History>,
): Promise<Holders> {
  if (!('event' in trigger)) return new Map()
  const visitorIds = new Set<string>()
  for (const { events } of histories.values())
    for (const { event, source, visitorId } of events)
      if (event === trigger.event && source === 'browser' && visitorId !== null) visitorIds.add(visitorId)
  return await loadHolders(sql, business.id, [...visitorIds])
}

/** In the order of their places. */
function entriesOf(
  { campaign: { trigger, enrolPer, goal }, from, to }: Plan,
  { events }: History,
  found: readonly FoundEntry[] | null,
  holders: Holders,
): ReplayEntry[] {
  if (found !== null)
    return found.map((entry) => {
      const later = events.findIndex(({ receivedAt }) => receivedAt > entry.receivedAt)
      return { ...entry, place: (later === -1 ? events.length : later) - 0.5 }
    })
  if (!('event' in trigger)) return []
  const test = compileTrigger(trigger)
  const keyPath = keyPathOf(enrolPer)
  const readKey = keyPath === null ? null : compileKey(keyPath)
  const ownGoal = goal?.event === trigger.event ? compileCondition(goal, keyPath) : null
  return events.flatMap((event, place) => {
    const { at, receivedAt } = event
    const isIn = event.event === trigger.event && receivedAt >= from && receivedAt < to
    if (!isIn || !triggers(event, test, holders)) return []
    if (ownGoal !== null && fitOf(ownGoal, seenOf(event)) !== null) return []
    const key = readKey?.(seenOf(event).properties()) ?? null
    if (readKey !== null && key === null) return []
    const entry = { enrolledAt: Math.min(at, receivedAt), eventAt: at, receivedAt, place }
    return [{ ...entry, ...(key !== null && { key }) }]
  })
}

function triggers(event: PastEvent, test: TriggerTest | null, holders: Holders): boolean {
  const { source, visitorId } = event
  if (source === 'batch') return false
  if (source === 'browser' && visitorId !== null && !wasKnown(holders, visitorId, event)) return false
  return test?.(seenOf(event)) ?? true
}

function seenOf({ source, value, currency, type, properties }: PastEvent): TriggeringEvent {
  const read = (): unknown => (properties === '' ? {} : JSON.parse(properties))
  return { source, value, currency, type, properties: read }
}

interface PastLife {
  history: History
  /** Null: no step reads them. */
  facts: SegmentFacts | null
  entries: readonly ReplayEntry[]
}

function replayPerson(plan: Plan, person: PastPerson, { history, facts, entries }: PastLife): Iterable<Replayed> {
  const { campaign, now } = plan
  return replayContact({
    campaignId: campaign.campaignId,
    definition: campaign,
    goal: campaign.goal,
    keyPath: keyPathOf(campaign.enrolPer),
    restarts: campaign.whileActive === 'restart',
    canEnterAgain: campaign.canEnterAgain,
    contact: contactOf(plan, person, { history, facts }),
    entries,
    eventsByName: eventsByName(plan, history),
    sent: [...person.sent],
    until: now,
  })
}

/** Of the earlier events, the first and the last: no other is dated later than these. */
function eventsByName({ from }: Plan, { earlier, events }: History): Map<string, FollowedEvent[]> {
  const byName = new Map<string, FollowedEvent[]>()
  const add = (event: string, one: FollowedEvent): void => {
    const known = byName.get(event)
    if (known) known.push(one)
    else byName.set(event, [one])
  }
  for (const { event, firstAt, lastAt } of earlier)
    for (const at of [firstAt, lastAt]) add(event, { at, receivedAt: from - 1, place: -1 })
  for (const [place, one] of events.entries())
    add(one.event, { at: one.at, receivedAt: one.receivedAt, place, seen: seenOf(one) })
  return byName
}

function contactOf(
  { business, branches, definitions: { fields, topics } }: Plan,
  person: PastPerson,
  { history, facts }: Omit<PastLife, 'entries'>,
): FollowedContact {
  // Including the changes by steps, which have no history.
  let known = facts
  const eventsAt = followEvents(history)
  const consentsAt = followChoices(person)
  const topicsAt = followTopics(person)
  return {
    contactId: person.contactId,
    zone: knownZone(person.zone, business.timezone),
    testRule(_, stepId, now) {
      if (known === null) return false
      const past = { ...known, ...eventsAt(now), subscriptions: consentsAt(now), topics: topicsAt(now) }
      return branches.get(stepId)?.test(past, now) ?? false
    },
    update(step, at) {
      if (known !== null) known = updateFacts(known, step, { at, fields })
    },
    hasOptIn: (channel, now) => channel !== 'webhook' && (consentsAt(now)[channel]?.subscribed ?? false),
    topicOf: (step, definition, now) => findTopic(step, definition, { topics, choices: topicsAt(now) }),
    addressOf: (channel) => addressOf(person, channel),
    isSuppressed: (channel, now) => (person.suppressedAt.get(channel) ?? Infinity) <= now,
  }
}

async function addRevenue(
  deps: AskDeps,
  { business, campaign }: Plan,
  earning: readonly KeyedEarning[],
  tally: Tally,
): Promise<void> {
  if (earning.length === 0) return
  const keys = keysOf(campaign)
  const asked = { businessId: business.id, earning }
  try {
    const rows =
      keys === null
        ? await readRevenue(deps.clickhouse, asked, deps.signal)
        : await readKeyedRevenue(deps.clickhouse, { ...asked, keys, spans: earning }, deps.signal)
    for (const { currency, amount } of rows) tally.earn(currency, amount)
  } catch (error) {
    deps.signal.throwIfAborted()
    throw new BacktestError('The revenue cannot be read now. Start the backtest again later.', { cause: error })
  }
}
