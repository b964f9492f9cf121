/**
 * The people of a language school and their events of the last 60 days. The result depends only on the seed and the
 * day.
 */
import type { EventFact, EventType, IdentifyFact, Identity, Touch, TraitValue } from '../rules/events/facts.ts'
import { interpret } from '../rules/events/interpret.ts'
import type { WebHit } from '../rules/visitors/web-facts.ts'
import { NAMES } from './demo-names.ts'

export const DEMO_DAYS = 60
/** Prefix of the customer ids of demo people. */
export const DEMO_PREFIX = 'demo-'

/** The event that triggers the demo campaign. */
export const DEMO_TRIGGER = 'trial_requested'
const TRIALS = 12

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

export interface DemoPerson {
  identify: IdentifyFact
  visit: { visitorId: string; hits: WebHit[]; touch: Touch }
  /** Oldest first. */
  events: EventFact[]
  /** Whether the person wants email; null when they have not answered. */
  wantsEmail: boolean | null
}

interface DemoOptions {
  count: number
  /** Epoch milliseconds. All events are earlier. */
  now: number
}

export function composeDemo({ count, now }: DemoOptions): DemoPerson[] {
  const random = createRandom(20_260_101)
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: count }, (_, index) => composePerson(index, { random, today, now }))
}

/** Returns events that happen at this moment, for the first people of the list. */
export function composeTrials(people: readonly DemoPerson[], now: number): EventFact[] {
  return people.slice(0, TRIALS).map(({ identify: { identity } }) => {
    const key = `${identity.platformCustomerId}-trial`
    return factOf({ event: DEMO_TRIGGER, identity, at: now, key, properties: { lesson: 'trial' } })
  })
}

interface Context {
  random: Random
  /** Midnight UTC in epoch milliseconds. */
  today: number
  now: number
}

function composePerson(index: number, { random, today, now }: Context): DemoPerson {
  const customerId = `${DEMO_PREFIX}${index + 1}`
  const [firstName, lastName, language, country, city, timezone] = random.pick(PEOPLE)(random)
  const email = `${customerId}@example.com`
  const identity: Identity = { platformCustomerId: customerId, email }
  const channel = random.pick(CHANNELS)
  const firstDay = random.whole(DEMO_DAYS)
  const start = today - (DEMO_DAYS - 1 - firstDay) * DAY_MS + random.whole(14 * 60) * MINUTE_MS + 7 * HOUR_MS
  const plan = random.pick(PLANS)
  const traits: Record<string, TraitValue> = {
    plan: plan.name,
    level: random.pick(['A1', 'A2', 'B1', 'B2', 'C1']),
    lessons_left: random.whole(12),
    wants_certificate: random.chance(0.3),
    course_starts: new Date(start + 7 * DAY_MS).toISOString().slice(0, 10),
  }
  const events: EventFact[] = []
  const add = (event: string, at: number, more: Partial<Reported> = {}) => {
    const key = `${customerId}-${events.length + 1}`
    if (at <= now) events.push(factOf({ event, identity, at, key, ...more }))
  }
  const signedUp = start + 20 * MINUTE_MS
  add('signup', signedUp, { traits, tags: [channel.tag], properties: { source: channel.source } })
  if (random.chance(0.6)) add('pricing_page_viewed', signedUp + 10 * MINUTE_MS)
  if (random.chance(0.8)) addLessons(add, signedUp, plan, random)
  const visitorId = random.uuid().replaceAll('-', '')
  return {
    identify: {
      identity,
      profile: { firstName, lastName, language, country, city, timezone },
      traits: {},
      method: null,
      visitorId,
      ageMs: Math.max(0, now - signedUp),
      warnings: [],
    },
    visit: {
      visitorId,
      hits: composeHits(start, channel, random).filter(({ occurredAt }) => occurredAt <= now),
      touch: touchOf(channel, start),
    },
    events,
    wantsEmail: random.chance(0.75) ? random.chance(0.9) : null,
  }
}

type Add = (event: string, at: number, more?: Partial<Reported>) => void

/** Adds a trial, lessons and payments. Most people stop at some point. */
function addLessons(add: Add, signedUp: number, plan: Plan, random: Random): void {
  const trial = signedUp + DAY_MS + random.whole(8 * 60) * MINUTE_MS
  add('appointment_booked', signedUp + HOUR_MS, { type: 'booking', properties: { lesson: 'trial' } })
  if (random.chance(0.15)) return
  add('appointment_attended', trial, { properties: { lesson: 'trial', minutes: 45 } })
  if (random.chance(0.35)) return
  add('checkout_started', trial + HOUR_MS, { properties: { plan: plan.name } })
  if (random.chance(0.2)) return
  const paid = trial + 2 * HOUR_MS
  const { price: value, currency } = plan
  add('purchase', paid, { value, currency, properties: { plan: plan.name }, tags: ['customer'] })
  if (random.chance(0.06)) {
    add('refund', paid + 3 * DAY_MS, { type: 'refund', value, currency })
    return
  }
  const lessons = 3 + random.whole(12)
  for (let lesson = 1; lesson <= lessons; lesson += 1) {
    const at = paid + lesson * (2 + random.whole(3)) * DAY_MS + random.whole(9 * 60) * MINUTE_MS
    add('lesson_finished', at, { properties: { lesson, minutes: random.pick([45, 60, 90]) } })
  }
  if (random.chance(0.15)) add('referral_made', paid + 10 * DAY_MS)
  if (random.chance(0.6))
    add('subscription_renewed', paid + 30 * DAY_MS, {
      type: 'purchase',
      value,
      currency,
      properties: { plan: plan.name },
    })
}

interface Reported {
  event: string
  identity: Identity
  at: number
  key: string
  type: EventType
  value: number
  currency: string
  properties: object
  tags: string[]
  traits: Record<string, TraitValue>
}

function factOf(reported: Pick<Reported, 'event' | 'identity' | 'at' | 'key'> & Partial<Reported>): EventFact {
  const { event, identity, at, key, type, value, currency, properties, tags = [], traits = {} } = reported
  const sent = { event, ...(type && { type }), ...(value !== undefined && { value }), ...(currency && { currency }) }
  return {
    event,
    identity,
    occurredAt: at,
    occurredAtSent: true,
    meaning: interpret(sent, 'USD'),
    value: value ?? null,
    properties: properties === undefined ? null : JSON.stringify(properties),
    tags,
    traits,
    idempotencyKey: key,
    visitorId: null,
    warnings: [],
  }
}

const SITE = 'https://school.example'
const PAGES = [
  ['/', 'Learn a language with a teacher'],
  ['/teachers', 'Our teachers'],
  ['/prices', 'Prices'],
  ['/trial', 'Book a trial lesson'],
] as const

/** Composes the page views of one visit before the signup. */
function composeHits(start: number, channel: DemoChannel, random: Random): WebHit[] {
  return PAGES.slice(0, 2 + random.whole(3)).flatMap(([path, title], index) => {
    const pageId = random.uuid()
    const at = start + index * 2 * MINUTE_MS
    const [url, referrer] = index === 0 ? [landingOf(channel), channel.referrer ?? ''] : [SITE + path, '']
    const common = { pageId, url, title: '', referrer: '', depth: 0, activeMs: 0, idleMs: 0 }
    const activeMs = 10_000 + random.whole(90) * 1000
    return [
      { ...common, id: random.uuid(), kind: 'page_view' as const, occurredAt: at, title, referrer },
      { ...common, id: random.uuid(), kind: 'time' as const, occurredAt: at + MINUTE_MS, activeMs, idleMs: 5000 },
    ]
  })
}

interface DemoChannel {
  tag: string
  /** What a person says who is asked. */
  source: string
  referrer?: string
  utm?: NonNullable<Touch['utm']>
  clickIds?: NonNullable<Touch['clickIds']>
}

function touchOf({ referrer, utm, clickIds }: DemoChannel, at: number): Touch {
  return {
    at,
    url: landingOf({ utm }),
    ...(referrer !== undefined && { referrer }),
    ...(utm !== undefined && { utm }),
    ...(clickIds !== undefined && { clickIds }),
  }
}

const landingOf = ({ utm = {} }: Pick<DemoChannel, 'utm'>): string => {
  const query = new URLSearchParams(
    Object.entries(utm).map(([name, value]): [string, string] => [`utm_${name}`, value]),
  )
  return `${SITE}/${query.size === 0 ? '' : `?${query.toString()}`}`
}

const CHANNELS: DemoChannel[] = [
  {
    tag: 'from-google-ads',
    source: 'ad',
    referrer: 'https://www.google.com/',
    utm: { source: 'google', medium: 'cpc', campaign: 'spring' },
    clickIds: { gclid: 'demo' },
  },
  { tag: 'from-facebook', source: 'ad', utm: { source: 'facebook', medium: 'paid_social', campaign: 'teachers' } },
  { tag: 'from-newsletter', source: 'newsletter', utm: { source: 'newsletter', medium: 'email', campaign: 'monthly' } },
  { tag: 'from-search', source: 'search', referrer: 'https://www.google.com/' },
  { tag: 'direct', source: 'friend' },
]

interface Plan {
  name: string
  price: number
  currency: string
}
const PLANS: Plan[] = [
  { name: 'basic', price: 39, currency: 'USD' },
  { name: 'standard', price: 89, currency: 'USD' },
  { name: 'intensive', price: 179, currency: 'USD' },
  { name: 'standard', price: 79, currency: 'EUR' },
]

const PEOPLE = NAMES.map(([first, last, language, places]) => (random: Random) => {
  const [country, city, zone] = random.pick(places)
  return [random.pick(first), random.pick(last), language, country, city, zone] as const
})

interface Random {
  /** A whole number from 0 to `limit` - 1. */
  whole: (limit: number) => number
  chance: (share: number) => boolean
  uuid: () => string
  pick: <T>(list: readonly [T, ...T[]] | readonly T[]) => T
}

/** Mulberry32: yields the same numbers on every runtime. */
function createRandom(seed: number): Random {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (limit: number) => Math.floor(next() * limit)
  const hex = (length: number) => Array.from({ length }, () => whole(16).toString(16)).join('')
  const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`
  return {
    whole,
    chance: (share) => next() < share,
    uuid,
    pick: (list) => list[whole(list.length)] as (typeof list)[number],
  }
}
