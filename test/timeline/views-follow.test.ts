/** Whatever is recorded, merged and erased, and whenever it is shipped: the views match Postgres. */
import * as fc from 'fast-check'
import { uuidv7 } from 'uuidv7'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { STAGES } from '../../src/rules/events/journey-stage.ts'
import type { Identity } from '../../src/rules/events/facts.ts'
import type { WorkerAnswer } from '../../src/stream/entry.ts'
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
import { createBusiness } from '../support/stack.ts'
import { eraseAll, type Lab, openLab, query, shipAll } from './lab.ts'
import { runs } from '../support/runs.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(async () => {
  await lab?.close()
})

/** Few values, so that calls refer to the same people and merge them. */
const identity: fc.Arbitrary<Identity> = fc
  .record(
    { email: fc.constantFrom('a@x.io', 'b@x.io', 'c@x.io'), phone: fc.constantFrom('972500000001', '972500000002') },
    { requiredKeys: [] },
  )
  .filter((fields) => Object.keys(fields).length > 0)
const fact = fc
  .record({
    event: fc.constantFrom('lesson_done', 'purchase', 'order_delivered'),
    identity,
    occurredAt: fc.constantFrom(-62_135_596_800_000, -1, 0, NOW - 1, NOW, NOW + 300_000),
    value: fc.constantFrom(0.1, -0.25, 0, 1e15, undefined),
    sentCurrency: fc.constantFrom('USD', 'ILS', undefined),
    plan: fc.constantFrom('free', 'pro', null),
  })
  .map(({ event, identity: who, occurredAt, value, sentCurrency, plan }) =>
    eventFact(event, who, {
      occurredAt,
      tags: [event],
      traits: { plan },
      ...(value !== undefined && { value }),
      ...(sentCurrency && { sentCurrency }),
    }),
  )

type Make = (businessId: string, known: string[]) => RequestContext
type Step = 'ship' | 'finish' | Make[]
const call: fc.Arbitrary<Make> = fc.oneof(
  fact.map(
    (one): Make =>
      (business) =>
        track(business, one),
  ),
  fc.array(fact, { minLength: 1, maxLength: 4 }).map(
    (facts): Make =>
      (business) =>
        batch(business, facts),
  ),
  identity.map(
    (who): Make =>
      (business) =>
        identify(business, identifyFact(who, { profile: { firstName: 'Ann' } })),
  ),
)
const erase = fc.nat(9).map((n): Make => (businessId, known) => ({
  kind: 'erase',
  businessId,
  receivedAt: NOW,
  contactId: known[n % known.length] ?? uuidv7(),
}))
/** An erasure is a micro-batch of its own, as in the pipeline. */
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.array(call, { minLength: 1, maxLength: 5 }) },
  { weight: 1, arbitrary: erase.map((one) => [one]) },
  { weight: 2, arbitrary: fc.constant('ship' as const) },
  { weight: 1, arbitrary: fc.constant('finish' as const) },
)

test('the views follow Postgres exactly', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      const { businessId } = await createBusiness(lab.sql)
      const pipeline = await openPipeline(lab.sql, `follow-${uuidv7()}`)
      const known: string[] = []
      for (const one of steps) {
        if (one === 'ship') await shipAll(lab)
        else if (one === 'finish') await finish()
        else known.push(...idsOf(await pipeline.apply(...one.map((make) => make(businessId, known)))))
      }
      await finish()
      expect(await inViews(businessId)).toEqual(await inPostgres(businessId))
      expect(await leftOver(businessId)).toEqual([])
    }),
    { numRuns: runs(10) },
  )
})

/** Like the worker: an erasure is finished when nothing is in progress. */
async function finish(): Promise<void> {
  await shipAll(lab)
  await eraseAll(lab)
}

const idsOf = (answers: WorkerAnswer[]): string[] =>
  answers.flatMap((answer) => ('contactId' in answer && answer.contactId ? [answer.contactId] : []))

async function inPostgres(businessId: string) {
  const people = await lab.sql<{ stage: number }[]>`
    select c.id::text as id, c.first_name, c.stage, c.order_count::int as orders,
      to_json(array(select tag from unnest(c.tags) tag order by tag)) as tags,
      (c.traits -> 'plan' ->> 1) as plan,
      to_json(array(select i.value from identities i where i.business_id = c.business_id and i.contact_id = c.id
        and i.kind = 'email' order by i.proven desc, i.position)) as emails,
      to_json(array(select case when i.phone_read then '+' else '' end || i.value from identities i
        where i.business_id = c.business_id and i.contact_id = c.id and i.kind = 'phone'
        order by i.proven desc, i.position)) as phones,
      (select coalesce(json_object_agg(r.currency, trim_scale(r.amount)::text order by r.currency), '{}') from revenue r
        where r.business_id = c.business_id and r.contact_id = c.id) as revenue,
      (select coalesce(json_agg(json_build_array(s.event, s.first_at, s.last_at, s.count) order by s.event), '[]')
        from event_statistics s where s.business_id = c.business_id and s.contact_id = c.id) as statistics
    from contacts c where c.business_id = ${businessId} and c.merged_into is null order by c.id::text`
  return people.map(({ stage, ...person }) => ({ ...person, stage: STAGES[stage] }))
}

interface Shown {
  id: string
  [column: string]: unknown
}

async function inViews(business: string): Promise<Shown[]> {
  const people = await query<Shown & { custom_fields: string }>(
    lab,
    `select toString(contact_id) as id, first_name, stage, order_count as orders, arraySort(tags) as tags,
        emails, phones, custom_fields
      from contacts where business_id = {business: UUID} order by id`,
    { business },
  )
  const statistics = await query<{ id: string; all: unknown }>(
    lab,
    `select toString(contact_id) as id, arraySort(groupArray((event, first_ms, last_ms, count))) as all
      from contact_event_statistics where business_id = {business: UUID} group by contact_id`,
    { business },
  )
  const revenue = await revenueOf(business)
  return people.map(({ custom_fields, ...person }) => ({
    ...person,
    plan: planOf(custom_fields),
    revenue: revenue.get(person.id) ?? {},
    statistics: statistics.find(({ id }) => id === person.id)?.all ?? [],
  }))
}

const planOf = (fields: string): string | null => {
  const { plan } = JSON.parse(fields) as { plan?: string }
  return plan === undefined ? null : JSON.stringify(plan)
}

/** Returns the revenue of the contacts, after checking that their timelines add up to it. */
async function revenueOf(business: string): Promise<Map<string, unknown>> {
  const stored = await query<{ id: string; currency: string; sum: string }>(
    lab,
    `select toString(contact_id) as id, arrayJoin(mapKeys(revenue)) as currency, toString(revenue[currency]) as sum
      from contacts where business_id = {business: UUID} order by id, currency`,
    { business },
  )
  const added = await query<{ id: string; currency: string; sum: string }>(
    lab,
    `select toString(contact_id) as id, currency, toString(sum(counted_revenue)) as sum from timeline
      where business_id = {business: UUID} group by contact_id, currency having sum(counted_revenue) != 0 order by id, currency`,
    { business },
  )
  expect(stored.filter(({ sum }) => sum !== '0')).toEqual(added)
  const days = await query<{ currency: string; sum: string }>(
    lab,
    `select currency, toString(sum(revenue)) as sum from revenue_by_day where business_id = {business: UUID}
      group by currency having sum(revenue) != 0 order by currency`,
    { business },
  )
  const totals = await query(
    lab,
    `select assumeNotNull(currency) as currency, toString(sum(counted_revenue)) as sum from timeline
      where business_id = {business: UUID} group by currency having sum(counted_revenue) != 0 order by currency`,
    { business },
  )
  expect(days).toEqual(totals)
  const byId = Map.groupBy(stored, ({ id }) => id)
  return new Map(
    [...byId].map(([id, rows]) => [id, Object.fromEntries(rows.map(({ currency, sum }) => [currency, sum]))] as const),
  )
}

/** Returns data that is left of erased people, hidden or not. It must be empty. */
async function leftOver(businessId: string): Promise<unknown[]> {
  const erased = await lab.sql<
    { id: string }[]
  >`select contact_id as id from erasures where business_id = ${businessId}`
  return await query(
    lab,
    `select contact_id from events where contact_id in {ids: Array(UUID)} union all
      select contact_id from event_statistics where contact_id in {ids: Array(UUID)} union all
      select contact_id from contact_snapshots where erased = 0 and contact_id in {ids: Array(UUID)}`,
    { ids: erased.map(({ id }) => id) },
  )
}
