/**
 * Random floods over two partitions that race, cut in any way: no limit is exceeded, there are no dead letters, and
 * every event is recorded.
 */
import * as fc from 'fast-check'
import { uuidv7 } from 'uuidv7'
import { expect, it } from 'vitest'
import type { EventFact } from '../../src/rules/events/facts.ts'
import { type RequestContext, batch, eventFact, identify, identifyFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { runs } from '../support/runs.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

const range = (many: number, from = 0) => Array.from({ length: many }, (_, n) => from + n)
const PEOPLE = [0, 1, 2]
const person = fc.constantFrom(...PEOPLE)
const from = fc.nat(3000)

/** Many events of one person, each with something new. Sometimes they identify two people as one. */
const flood = fc.record({
  kind: fc.constantFrom('tags', 'emails', 'clears', 'triggers', 'browsers', 'merge'),
  who: person,
  other: person,
  from,
  many: fc.integer({ min: 1, max: 40 }),
})
type Flood = typeof flood extends fc.Arbitrary<infer F> ? F : never

const idOf = (who: number) => ({ platformCustomerId: `p${who}` })
const phoneOf = (who: number) => ({ phone: `97250000000${who}` })

function callsOf(businessId: string, { kind, who, other, from: first, many }: Flood): RequestContext[] {
  const sent = (input: Partial<EventFact>, identity = {}) =>
    eventFact('seen', { ...phoneOf(who), ...identity }, input as object)
  const events = {
    tags: () => range(many).map((n) => sent({ tags: range(50, first + n * 50).map((tag) => `tag ${tag}`) })),
    emails: () => range(many * 4).map((n) => sent({}, { email: `${who} ${first + n}@x.io`.replace(' ', '_') })),
    clears: () =>
      range(many).map((n) =>
        sent({ traits: Object.fromEntries(range(100, first + n * 100).map((key) => [`key_${key}`, null])) }),
      ),
    merge: () => [sent({}, { ...idOf(other) })],
  }
  if (kind === 'triggers')
    return range(many * 2).map((n) => track(businessId, eventFact(n % 2 === 0 ? 'start' : 'end', phoneOf(who))))
  if (kind === 'browsers')
    return range(many * 10).map((n) => identify(businessId, identifyFact(phoneOf(who), { visitorId: `v${first + n}` })))
  return [batch(businessId, events[kind]())]
}

const eventsIn = (calls: RequestContext[]) =>
  calls.reduce((sum, call) => sum + (call.kind === 'batch' ? call.items.length : call.kind === 'track' ? 1 : 0), 0)

async function publishCampaigns(businessId: string): Promise<void> {
  await stack.sql`
    with made as (
      insert into campaigns (business_id, id, name, status, trigger_event, can_enter_again, goal_event, published_at)
      select ${businessId}, gen_random_uuid(), 'c', 'published', 'start', true, 'end', now() from generate_series(1, 25)
    )
    update businesses set config_version = config_version + 1 where id = ${businessId}`
}

const most = (businessId: string) => stack.sql<Record<string, number>[]>`
  select cardinality(c.tags) as tags,
    (select count(*)::int from jsonb_object_keys(c.traits)) as cleared,
    (select count(*)::int from identities i where i.business_id = c.business_id and i.contact_id = c.id) as identities,
    (select count(*)::int from enrolments e where e.business_id = c.business_id and e.contact_id = c.id) as enrolments,
    (select count(*)::int from contact_visitors v where v.business_id = c.business_id and v.contact_id = c.id) as browsers
  from contacts c where c.business_id = ${businessId}`

it('floods never pass a limit, whatever they race with', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(flood, { minLength: 4, maxLength: 24 }),
      fc.integer({ min: 1, max: 60 }),
      async (floods, cut) => {
        const { businessId } = await createBusiness(stack.sql)
        await publishCampaigns(businessId)
        const halves = [0, 1].map((half) =>
          floods.flatMap((one, n) => (n % 2 === half ? callsOf(businessId, one) : [])),
        )
        await Promise.all(
          halves.map(async (calls) => {
            const pipeline = await openPipeline(stack.sql, `floods-${uuidv7()}`)
            for (let at = 0; at < calls.length; at += cut) await pipeline.apply(...calls.slice(at, at + cut))
          }),
        )
        for (const held of await most(businessId)) {
          expect(held['tags']).toBeLessThanOrEqual(1000)
          expect(held['cleared']).toBeLessThanOrEqual(1000)
          expect(held['identities']).toBeLessThanOrEqual(300 + PEOPLE.length * 2)
          expect(held['enrolments']).toBeLessThanOrEqual(1000)
          expect(held['browsers']).toBeLessThanOrEqual(1000 * PEOPLE.length)
        }
        const [row] = await stack.sql<[{ recorded: number; dead: number }]>`
          select (select coalesce(sum(count), 0)::int from event_statistics where business_id = ${businessId}) as recorded,
            (select count(*)::int from dead_letters where business_id = ${businessId}) as dead`
        expect(row).toEqual({ recorded: eventsIn(halves.flat()), dead: 0 })
      },
    ),
    { numRuns: runs(7), interruptAfterTimeLimit: 60_000 },
  )
})
