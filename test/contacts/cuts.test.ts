/** A micro-batch has the same effects and answers as its calls would have one by one: folding only saves time. */
import * as fc from 'fast-check'
import { uuidv7 } from 'uuidv7'
import { describe, expect, it } from 'vitest'
import { type Contact, readContact } from '../../src/contacts/read/read-contact.ts'
import type { Identity, Profile } from '../../src/rules/events/facts.ts'
import { PAGE_IDENTIFY, type PageIdentify } from '../../src/rules/business-state.ts'
import type { WorkerAnswer, ContactAnswer } from '../../src/stream/entry.ts'
import {
  type RequestContext,
  NOW,
  batch,
  browser,
  browserFact,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
import type { TimelineRow } from '../../src/outbox/timeline-row.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { runs } from '../support/runs.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

/** Few values, so that calls refer to the same people, mix them up, and prove, move, release and merge identities. */
const identity: fc.Arbitrary<Identity> = fc
  .record(
    {
      platformCustomerId: fc.constantFrom('1', '2', '3'),
      email: fc.constantFrom('a@x.io', 'b@x.io', 'c@x.io'),
      phone: fc.constantFrom('972500000001', '972500000002'),
    },
    { requiredKeys: [] },
  )
  .filter((fields) => Object.keys(fields).length > 0)

const profile: fc.Arbitrary<Profile> = fc.record(
  { firstName: fc.constantFrom('Ann', 'Bob'), city: fc.constantFrom('Rome', 'Oslo') },
  { requiredKeys: [] },
)
const at = fc.integer({ min: NOW - 3, max: NOW })
const visitorId = fc.option(fc.constantFrom('v', 'w'))
const fact = fc
  .record({
    event: fc.constantFrom('start', 'goal', 'purchase'),
    identity,
    at,
    key: fc.option(fc.constantFrom('k', 'l')),
    tag: fc.constantFrom('s', 't'),
    trait: fc.constantFrom('x', 'y', null),
    visitorId,
  })
  .map(({ event, identity, at, key, tag, trait, visitorId }) =>
    eventFact(event, identity, {
      occurredAt: at,
      idempotencyKey: key,
      tags: [tag],
      traits: { plan: trait },
      visitorId,
      ...(event === 'purchase' && { value: 0.1 }),
    }),
  )

type Make = (businessId: string, known: string[]) => RequestContext
const call: fc.Arbitrary<Make> = fc.oneof(
  fc.tuple(fact, fc.boolean()).map(
    ([one, keyed]): Make =>
      (business) =>
        track(business, one, keyed),
  ),
  fc.array(fact, { minLength: 1, maxLength: 3 }).map(
    (facts): Make =>
      (business) =>
        batch(
          business,
          facts.map((one) => ({ ...one, visitorId: null })),
        ),
  ),
  fc.tuple(identity, profile, visitorId, fc.boolean(), fc.constantFrom(0, 0, 60_000, 120_000)).map(
    ([who, sent, visitor, keyed, ageMs]): Make =>
      (business) =>
        identify(business, identifyFact(who, { profile: sent, visitorId: visitor, ...(!keyed && { ageMs }) }), keyed),
  ),
  fc
    .record({
      event: fc.constantFrom('start', 'goal', 'purchase'),
      visitor: fc.constantFrom('v', 'w'),
      at,
      messageId: fc.option(fc.constantFrom('m', 'n')),
    })
    .map(
      ({ event, visitor, at, messageId }): Make =>
        (business) =>
          browser(business, browserFact(event, visitor, { occurredAt: at, messageId, first: { at, url: 'x' } })),
    ),
  fc.tuple(fc.nat(5), fc.boolean()).map(([which, sms]): Make => (businessId, known) => ({
    kind: 'subscribe',
    businessId,
    receivedAt: NOW,
    contactId: known[which % known.length] ?? uuidv7(),
    channels: { sms },
    method: sms ? 'form' : 'STOP',
  })),
)

/** Splits a batch into batches of one item. */
const singles = (made: RequestContext): RequestContext[] =>
  made.kind === 'batch' ? made.items.map((item) => ({ ...made, items: [item] })) : [made]

/** Applies all calls: the first `alone` one by one, so that the others find people; then in groups of `cut`. */
async function run(calls: Make[], alone: number, cut: number, setting: PageIdentify) {
  const { sql } = stack
  const { businessId } = await createBusiness(sql, { pageIdentify: setting })
  const campaigns = [uuidv7(), uuidv7()]
  for (const [n, id] of campaigns.entries())
    await sql`insert into campaigns (business_id, id, name, status, trigger_event, can_enter_again, goal_event, published_at)
      values (${businessId}, ${id}, 'c', 'published', 'start', ${n === 0}, 'goal', now())`
  const pipeline = await openPipeline(sql, `cuts-${uuidv7()}`)
  const answers: WorkerAnswer[] = []
  const idOf = (answer: WorkerAnswer) => ('contactId' in answer && answer.contactId ? [answer.contactId] : [])
  let known: string[] = []
  for (let done = 0; done < calls.length;) {
    const size = done < alone ? 1 : cut
    const part = calls.slice(done, done < alone ? done + 1 : done + size)
    const made = part.map((make, n) => ({ ...make(businessId, known), receivedAt: NOW + done + n }))
    if (size > 1) answers.push(...(await pipeline.apply(...made)))
    else for (const single of made.flatMap(singles)) answers.push(...(await pipeline.apply(single)))
    done += part.length
    if (done <= alone) known = answers.flatMap(idOf)
  }
  return describeAll(businessId, answers, campaigns)
}

/**
 * Returns answers and people. Ids are replaced by numbers in the order of the answers. Two records of the same choice
 * count as equal: merges.test.ts checks which one stays after a merge, with its exception.
 */
async function describeAll(businessId: string, answers: WorkerAnswer[], campaigns: string[]) {
  const rows = await stack.sql<
    {
      id: string
      keyed: boolean
      page_filled: number
      proven: unknown
      choices: unknown
      log: unknown
      owns: unknown
    }[]
  >`
    select c.id, c.keyed and c.merged_into is null as keyed, c.page_filled,
      (select json_agg(json_build_array(i.value, i.proven) order by i.value) from identities i
        where i.business_id = c.business_id and i.contact_id = c.id) as proven,
      (select json_agg(json_build_array(s.channel, s.subscribed, s.method)) from subscriptions s
        where s.business_id = c.business_id and s.contact_id = c.id) as choices,
      (select json_agg(json_build_array(l.action, l.losing_id, l.recorded_at) order by l.id) from merge_log l
        where l.business_id = c.business_id and l.contact_id = c.id) as log,
      (select json_agg(v.visitor_id order by v.visitor_id) from visitors v
        where v.business_id = c.business_id and v.contact_id = c.id) as owns
    from contacts c where c.business_id = ${businessId} order by c.created_at, c.id`
  const people: (Contact | null)[] = []
  for (const { id } of rows) people.push(await readContact(stack.sql, { businessId, contactId: id, currency: 'USD' }))
  const keys =
    await stack.sql`select key_hash, occurred_at from idempotency_keys where business_id = ${businessId} order by 1`
  const dead = await stack.sql`select reason from dead_letters where business_id = ${businessId}`
  const visitors = await stack.sql`
    select v.visitor_id, v.contact_id, v.current_contact_id, v.crowded, v.waits, v.first_seen_at, v.last_seen_at, v.first_touch,
      (select json_agg(json_build_array(l.from_at, l.contact_id, l.identified_at, l.waits_for) order by l.from_at) from visitor_links l
        where l.business_id = v.business_id and l.visitor_id = v.visitor_id) as links,
      (select json_agg(json_build_array(e.event, e.occurred_at) order by e.event_id) from visitor_events e
        where e.business_id = v.business_id and e.visitor_id = v.visitor_id) as waiting,
      (select json_agg(json_build_array(c.contact_id, c.linked_at, c.keyed, c.waits) order by c.linked_at, c.contact_id)
        from contact_visitors c where c.business_id = v.business_id and c.visitor_id = v.visitor_id) as listed_by
    from visitors v where v.business_id = ${businessId} order by v.visitor_id`
  const timeline = await readLines(businessId)
  const flat = answers.flatMap<unknown>((answer) => ('items' in answer ? answer.items : [answer]))
  let text = JSON.stringify({ answers: flat, rows, people: people.map(sorted), keys, dead, visitors, timeline })
  for (const [n, id] of [...rows.map((row) => row.id), ...campaigns].entries()) text = text.replaceAll(id, `#${n}`)
  return JSON.parse(text) as { dead: unknown[]; answers: ContactAnswer[] }
}

/** Returns each event as often as it is in the outbox, without its contact, which may have been merged since. */
async function readLines(businessId: string): Promise<string[]> {
  const rows = await stack.sql<{ events: string }[]>`
    select events from outbox where ${businessId} = any (business_ids)`
  return rows
    .flatMap(({ events }) => events.split('\n').filter(Boolean))
    .map((line) => JSON.parse(line) as TimelineRow)
    .map(({ event, occurred_ms, source, visitor_id }) => `${event} ${occurred_ms} ${source} ${visitor_id}`)
    .toSorted()
}

/** Sorts the lists that have no order, and leaves out generated ids. */
const sorted = (contact: Contact | null) =>
  contact && {
    ...contact,
    tags: contact.tags.toSorted(),
    enrolments: contact.enrolments.map(({ enrolmentId: _, ...one }) => JSON.stringify(one)).toSorted(),
  }

describe('calls', () => {
  it('do the same one by one and in one micro-batch', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 2, maxLength: 24 }),
        fc.nat(5),
        fc.integer({ min: 2, max: 14 }),
        fc.constantFrom(...PAGE_IDENTIFY),
        async (calls, alone, cut, setting) => {
          const [byOne, together] = [await run(calls, alone, 1, setting), await run(calls, alone, cut, setting)]
          expect(together).toEqual(byOne)
          expect(together.dead).toEqual([])
        },
      ),
      // Enough time to find the smallest calls that differ. After it, the smallest ones found so far are reported.
      { numRuns: runs(15), interruptAfterTimeLimit: 60_000 },
    )
  })
})
