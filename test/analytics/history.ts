/**
 * Random histories of people who merge, buy, get refunds and are erased, and a plain calculation of the data that is
 * left.
 */
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { uuidv7 } from 'uuidv7'
import { expect } from 'vitest'
import { openReader } from '../../src/analytics/read-rows.ts'
import type { TimelineRow } from '../../src/outbox/timeline-row.ts'
import { STAGES, stageOf } from '../../src/rules/events/journey-stage.ts'
import {
  type Lab,
  addContact,
  erase,
  eraseAll,
  merge,
  newBusiness,
  save,
  saveSegmentChanges,
  shipAll,
} from '../timeline/lab.ts'

export const NAMES = ['signup', 'add_to_cart', 'purchase', 'referral_made'] as const
export const ZONES = ['UTC', 'America/New_York', 'Asia/Jerusalem', 'Australia/Lord_Howe', 'Asia/Kathmandu'] as const

/** Close to the changes of the clocks in New York, Lord Howe and Jerusalem. */
export const BEGAN = Date.parse('2024-10-04T00:00:00Z')
export const SPAN_DAYS = 45
const DAY = 86_400_000

interface HappenedSeed {
  who: number
  event: (typeof NAMES)[number]
  at: number
  plan: string | number | null
  source: 'live' | 'batch'
  /** In cents: null for an order without an amount, negative for a refund. */
  cents: number | null
  currency: 'USD' | 'EUR'
}

export interface HistorySeed {
  people: number
  events: HappenedSeed[]
  /** The losing person and the surviving person. */
  merges: [number, number][]
  erased: number[]
  countries: (string | null)[]
  /** Values of the custom field `FIELD`, as JSON texts. */
  fields: (string | null)[]
  /** Changes of segments, in their order. */
  changes: { who: number; segment: number; entered: 0 | 1 }[]
}

export const FIELD = "plan's"
const SEGMENTS = 6

const seconds = fc.nat(SPAN_DAYS * 86_400)
/** Includes whole days and equal instants. */
const instant = fc.oneof(
  seconds.map((one) => BEGAN + one * 1000),
  seconds.map((one) => BEGAN + one * 1000 + (one % 1000)),
  fc.nat(SPAN_DAYS - 1).map((one) => BEGAN + one * DAY),
)

export const history: fc.Arbitrary<HistorySeed> = fc.record({
  people: fc.integer({ min: 1, max: 8 }),
  events: fc.array(
    fc.record({
      who: fc.nat(7),
      event: fc.constantFrom(...NAMES),
      at: instant,
      plan: fc.constantFrom('pro', 'free', "it's", 5, 0.25, null),
      source: fc.constantFrom('live' as const, 'batch' as const),
      cents: fc.oneof(fc.integer({ min: -2000, max: 9999 }), fc.constant(null)),
      currency: fc.constantFrom('USD' as const, 'EUR' as const),
    }),
    { maxLength: 60 },
  ),
  merges: fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 3 }),
  erased: fc.array(fc.nat(7), { maxLength: 1 }),
  countries: fc.array(fc.constantFrom('DE', 'de', '', null), { minLength: 8, maxLength: 8 }),
  fields: fc.array(fc.constantFrom('"pro"', `"it's"`, '""', '5', 'true', null), { minLength: 8, maxLength: 8 }),
  changes: fc.array(
    fc.record({
      who: fc.nat(7),
      segment: fc.nat(SEGMENTS - 1),
      entered: fc.constantFrom(1 as const, 1 as const, 0 as const),
    }),
    { maxLength: 20 },
  ),
})

/** An event that is left, with the person to whom it belongs now. */
export interface Happened extends TimelineRow {
  contact: string
  cents: number
  plan: string | number | null
}

interface Person {
  id: string
  stage: string
  country: string | null
  /** As text. */
  field: string | null
  /** The segments that contain one of the person's ids. */
  segments: string[]
  createdAt: number
}

export interface History {
  businessId: string
  /** In the order of the timeline. */
  events: Happened[]
  /** The people who are left. */
  people: Person[]
  /** The ids of all people of the history. */
  ids: string[]
  /** Returns the current contact of an id; null after an erasure. */
  ownerOf: (id: string) => string | null
}

/** Saves the history and ships all of it to ClickHouse. */
export async function saveHistory(lab: Lab, seed: HistorySeed): Promise<History> {
  const [saved] = await saveHistories(lab, [seed])
  return saved!
}

/** Saves each history in a business of its own. ClickHouse takes about as long for ten at once as for one. */
async function saveHistories(lab: Lab, seeds: HistorySeed[]): Promise<History[]> {
  const recorded: Recorded[] = []
  for (const seed of seeds) recorded.push(await record(lab, seed))
  await shipAll(lab)
  const erased = recorded.filter(({ gone }) => gone.length > 0)
  for (const { businessId, gone } of erased) await erase(lab, businessId, gone)
  if (erased.length > 0) await eraseAll(lab)
  return recorded.map(({ history }) => history)
}

/** The contacts of a history that are erased once it is shipped, and the data that is left then. */
interface Recorded {
  businessId: string
  gone: string[]
  history: History
}

async function record(lab: Lab, seed: HistorySeed): Promise<Recorded> {
  const businessId = newBusiness()
  const who = (n: number) => n % seed.people
  const survivor = Array.from({ length: seed.people }, (_, n) => n)
  const last = (n: number): number => (survivor[n] === n ? n : last(survivor[n]!))
  const merges = seed.merges
    .map(([loser, other]) => [who(loser), who(other)] as const)
    .filter(([loser, other]) => {
      if (last(loser) === last(other)) return false
      survivor[last(loser)] = last(other)
      return true
    })
  const erased = new Set(seed.erased.map((n) => last(who(n))))
  const stages = Array.from({ length: seed.people }, () => 0)
  for (const { who: n, event } of seed.events) {
    const person = last(who(n))
    stages[person] = Math.max(stages[person] ?? 0, stageOf(event) ?? 0)
  }
  const ids: string[] = []
  for (let n = 0; n < seed.people; n += 1)
    ids.push(
      await addContact(lab, businessId, {
        id: uuidv7(),
        stage: stages[n] ?? 0,
        traits: { [FIELD]: [1, seed.fields[n] ?? null] },
        createdAt: BEGAN + n * DAY,
      }),
    )
  for (const [n, id] of ids.entries())
    await lab.sql`update contacts set country = ${seed.countries[n] ?? null} where business_id = ${businessId} and id = ${id}`
  const saved = await save(
    lab,
    businessId,
    seed.events.map((one) => ({ contact_id: ids[who(one.who)]!, ...rowOf(one) })),
    ids,
  )
  const segments = Array.from({ length: SEGMENTS }, () => randomUUID())
  const members = segments.map(() => new Set<number>())
  for (const [place, { who: n, segment, entered }] of seed.changes.entries()) {
    const change = { contact_id: ids[who(n)]!, at_ms: BEGAN + place, entered }
    await saveSegmentChanges(lab, businessId, segments[segment]!, [change])
    members[segment]?.[entered === 1 ? 'add' : 'delete'](who(n))
  }
  for (let n = 0; n < seed.people; n += 1) {
    const losers = ids.filter((_, m) => m !== n && last(m) === n)
    if (merges.length > 0 && losers.length > 0) await merge(lab, businessId, losers, ids[n]!)
  }
  const gone = ids.filter((_, n) => erased.has(last(n)))
  const events = saved.map((row, place): Happened => {
    const { who: n, cents, plan } = seed.events[place]!
    return { ...row, contact: ids[last(who(n))]!, cents: row.currency === null ? 0 : (cents ?? 0), plan }
  })
  const isLeft = (n: number) => last(n) === n && !erased.has(n)
  const history: History = {
    businessId,
    ids,
    ownerOf: (id) => {
      const owner = last(ids.indexOf(id))
      return erased.has(owner) ? null : (ids[owner] ?? null)
    },
    events: events
      .filter(({ contact }) => !gone.includes(contact))
      .toSorted((one, other) => one.occurred_ms - other.occurred_ms || (one.event_id < other.event_id ? -1 : 1)),
    people: ids.flatMap((id, n): Person[] => {
      if (!isLeft(n)) return []
      const field = seed.fields[n] ?? null
      return [
        {
          id,
          stage: STAGES[stages[n] as 0],
          country: seed.countries[n] ?? null,
          field: field === null ? null : String(JSON.parse(field)),
          segments: segments.filter((_, segment) => [...(members[segment] ?? [])].some((one) => last(one) === n)),
          createdAt: BEGAN + n * DAY,
        },
      ]
    }),
  }
  return { businessId, gone, history }
}

function rowOf({ event, at, plan, source, cents, currency }: HappenedSeed) {
  const isPaid = event === 'purchase'
  const isRefund = isPaid && cents !== null && cents < 0
  return {
    event,
    occurred_ms: at,
    source,
    type: isRefund ? ('refund' as const) : isPaid ? ('purchase' as const) : ('none' as const),
    is_order: isPaid && !isRefund ? (1 as const) : (0 as const),
    value: isPaid && cents !== null ? cents / 100 : null,
    currency: isPaid && cents !== null ? currency : null,
    counted: isPaid && cents !== null ? (cents / 100).toFixed(2) : '0',
    properties: plan === null ? '' : JSON.stringify({ plan }),
  }
}

const AT_ONCE = 10

/** Checks `count` histories, each with a generated `asked`. Several histories are saved together. */
export async function assertHistories<Asked>(
  lab: Lab,
  count: number,
  asked: fc.Arbitrary<Asked>,
  check: (saved: History, asked: Asked) => Promise<void>,
): Promise<void> {
  const many = Math.min(count, AT_ONCE)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(history, asked), { minLength: many, maxLength: many }), async (cases) => {
      const saved = await saveHistories(
        lab,
        cases.map(([seed]) => seed),
      )
      for (const [place, [, question]] of cases.entries())
        await check(saved[place]!, question).catch((cause: unknown) => {
          throw new Error(`of the history ${place + 1} of these`, { cause })
        })
    }),
    { numRuns: Math.ceil(count / many) },
  )
}

/** Types `expect.closeTo` as unknown. It is typed as `any`, which would disable type checks around it. */
export const near = (number: number, digits = 6): unknown => expect.closeTo(number, digits)

export const readerOf = ({ clickhouse, log }: Lab) => openReader({ clickhouse, log }, { ms: 60_000, bytes: 1024 ** 3 })

/** Returns the local time of an instant, such as `2024-10-06T02`. */
export function localTime(at: number, timezone: string): string {
  const parts = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(at)
  return parts.replace(' ', 'T')
}
