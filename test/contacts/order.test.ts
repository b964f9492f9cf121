/**
 * Decisions, "Time": statistics, revenue, orders, tags, stage, trait values and the identities of people do not depend
 * on the order of arrival, on how events are batched, or on retries. Checked against a short independent calculation.
 */
import * as fc from 'fast-check'
import { uuidv7 } from 'uuidv7'
import { describe, expect, it } from 'vitest'
import type { Identity } from '../../src/rules/events/facts.ts'
import { stageOf } from '../../src/rules/events/journey-stage.ts'
import {
  type RequestContext,
  NOW,
  batch,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
import { type Person, byIdentities, readPeople } from '../support/read-people.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { runs } from '../support/runs.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

interface Sent {
  identity: Identity
  event: string
  at: number
  cents: number | null
  tag: string
  trait: [key: 'plan' | 'score', value: string | number | null]
  keyed: boolean
}

const phoneOf = (n: number) => `97250000000${n}`

/** Identities of three people, whose fields become known in any order. */
const ofPeople: fc.Arbitrary<Identity> = fc
  .record({
    person: fc.nat(2),
    fields: fc.subarray<keyof Identity>(['platformCustomerId', 'email', 'phone'], { minLength: 1 }),
  })
  .map(({ person, fields }) => {
    const known: Identity = { platformCustomerId: `c${person}`, email: `${person}@x.io`, phone: phoneOf(person) }
    return Object.fromEntries(fields.map((field) => [field, known[field]]))
  })

/** Emails and phones belong to the person they are sent with. Chains, stars and rings of any length connect people. */
const ofAnybody: fc.Arbitrary<Identity> = fc.oneof(
  fc.nat(6).map((n) => ({ email: `${n}@x.io` })),
  fc.nat(6).map((n) => ({ phone: phoneOf(n) })),
  fc.tuple(fc.nat(6), fc.nat(6)).map(([email, phone]) => ({ email: `${email}@x.io`, phone: phoneOf(phone) })),
)

const sentBy = (identity: fc.Arbitrary<Identity>): fc.Arbitrary<Sent> =>
  fc.record({
    identity,
    event: fc.constantFrom('signup', 'purchase', 'product_viewed', 'referral_made'),
    at: fc.integer({ min: NOW - 5, max: NOW }),
    cents: fc.option(fc.integer({ min: 1, max: 1000 })),
    tag: fc.constantFrom('a', 'b', 'c'),
    trait: fc.oneof(
      fc.tuple(fc.constant('plan' as const), fc.constantFrom('free', 'pro', null)),
      fc.tuple(fc.constant('score' as const), fc.constantFrom(1, 2, null)),
    ),
    keyed: fc.boolean(),
  })

function callFact(event: Sent, number: number) {
  return eventFact(event.event, event.identity, {
    occurredAt: event.at,
    tags: [event.tag],
    traits: { [event.trait[0]]: event.trait[1] },
    idempotencyKey: event.keyed ? `key-${number}` : null,
    ...(event.cents === null ? {} : { value: event.cents / 100 }),
  })
}

/** The oracle: shared fields connect people, and everything else is a fold over the set of their events. */
function expected(events: Sent[]): Person[] {
  const groups: { fields: Set<string>; events: Sent[] }[] = []
  for (const event of events) {
    const fields = new Set(Object.entries(event.identity).map(([kind, value]) => `${kind}:${value}`))
    const touching = groups.filter((group) => [...fields].some((field) => group.fields.has(field)))
    for (const group of touching) {
      groups.splice(groups.indexOf(group), 1)
      for (const field of group.fields) fields.add(field)
    }
    groups.push({ fields, events: [...touching.flatMap((group) => group.events), event] })
  }
  return groups.map(({ fields, events: theirs }) => fold([...fields].sort(), theirs)).sort(byIdentities)
}

function fold(identities: string[], events: Sent[]): Person {
  const person: Person = { identities, stage: 0, orders: 0, tags: [], traits: {}, events: {}, revenue: {} }
  let cents = 0
  for (const event of events) {
    person.stage = Math.max(person.stage, stageOf(event.event) ?? 0)
    cents += event.cents ?? 0
    if (event.cents !== null || event.event === 'purchase') person.orders += 1
    const [first, last, count] = person.events[event.event] ?? [Infinity, -Infinity, 0]
    person.events[event.event] = [Math.min(first, event.at), Math.max(last, event.at), count + 1]
    const [key, value] = event.trait
    const [at, json] = person.traits[key] ?? [-Infinity, null]
    const text = value === null ? null : JSON.stringify(value)
    if (event.at > at || (event.at === at && text !== null && (json === null || text > json)))
      person.traits[key] = [event.at, text]
  }
  person.tags = [...new Set(events.map((event) => event.tag))].sort()
  if (cents > 0) person.revenue = { USD: String(cents / 100) }
  return person
}

describe('a set of events', () => {
  it.each([
    { whose: 'of three people', identity: ofPeople, most: 14, longest: 5 },
    { whose: 'that join anybody', identity: ofAnybody, most: 30, longest: 30 },
  ])('$whose gives the same in any order, cut in any way, with any repetition', async (kind) => {
    const { sql } = stack
    const scenario = fc.array(sentBy(kind.identity), { minLength: 1, maxLength: kind.most }).chain((events) =>
      fc.record({
        events: fc.constant(events),
        // Each event once, events with keys any number of additional times, all in any order.
        order: fc
          .array(fc.nat(events.length - 1), { maxLength: 6 })
          .map((more) => more.filter((n) => events[n]?.keyed))
          .chain((more) =>
            fc.shuffledSubarray([...events.keys(), ...more.map((n) => n)], { minLength: events.length + more.length }),
          ),
        cuts: fc.array(fc.integer({ min: 1, max: kind.longest }), { minLength: 14, maxLength: 20 }),
        asBatch: fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(scenario, async ({ events, order, cuts, asBatch }) => {
        const { businessId } = await createBusiness(sql)
        for (const [key, type] of [
          ['plan', 'Text'],
          ['score', 'Number'],
        ])
          await sql`insert into custom_fields (business_id, key, type, created_at) values (${businessId}, ${key!}, ${type!}, 0)`
        const pipeline = await openPipeline(sql, `order-${uuidv7()}`)
        const facts = order.map((n) => callFact(events[n]!, n))
        for (let done = 0, group = 0; done < facts.length; group += 1) {
          const part = facts.slice(done, done + (cuts[group] ?? 1))
          const calls: RequestContext[] = asBatch[group]
            ? [batch(businessId, part)]
            : part.map((fact) => track(businessId, fact))
          await pipeline.apply(...calls)
          done += part.length
        }
        expect(await readPeople(sql, businessId)).toEqual(expected(events))
      }),
      { numRuns: runs(60) },
    )
  })
})

it('traits of an identify count as of the time that it names, and of its receipt otherwise; nothing else does', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const pipeline = await openPipeline(stack.sql, `order-${uuidv7()}`)
  const ANN = { email: 'ann@x.io' }
  const say = (plan: string, traitsAt?: number) =>
    identify(
      businessId,
      identifyFact(ANN, { traits: { plan }, visitorId: 'v', ...(traitsAt !== undefined && { traitsAt }) }),
    )
  const plan = async () => (await readPeople(stack.sql, businessId))[0]?.traits['plan']
  const upgraded = eventFact('upgraded', ANN, { occurredAt: NOW - 5, traits: { plan: 'pro' } })
  await pipeline.apply(track(businessId, upgraded), say('free', NOW - 10))
  expect(await plan()).toEqual([NOW - 5, '"pro"'])
  await pipeline.apply(say('team', NOW - 4))
  expect(await plan()).toEqual([NOW - 4, '"team"'])
  await pipeline.apply(say('now'))
  expect(await plan()).toEqual([NOW, '"now"'])
  const { sql } = stack
  const [said] = await sql`
    select (select min(identified_at) from identifications where business_id = ${businessId}) as identified,
    (select linked_at from visitors where business_id = ${businessId}) as linked`
  expect(said).toEqual({ identified: NOW, linked: NOW })
})
