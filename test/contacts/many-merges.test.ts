/** Postgres carries out several merges of one micro-batch together. The result is the same as one after the other. */
import { describe, expect, it, vi } from 'vitest'
import { readContact } from '../../src/contacts/read/read-contact.ts'
import type { ContactAnswer, TrackAnswer } from '../../src/stream/entry.ts'
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
import { businessId, pipeline, stack, takeBusiness, useFreshBusiness } from '../support/fresh-business.ts'
import { createBusiness } from '../support/stack.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

useFreshBusiness()

const COUNT = 5
const PROFILE = ['firstName', 'lastName', 'city']
const identityOf = (n: number) => ({ email: `${n}@x.io`, phone: `97250000${1000 + n}` })

/**
 * Makes contacts, oldest first. Each has something of every kind, lacks something, and has something in common with
 * others.
 */
async function makeContacts(business: string): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < COUNT; n += 1) {
    const made = eventFact(`event ${n % 2}`, identityOf(n), {
      occurredAt: NOW - n,
      value: n + 1,
      sentCurrency: n % 2 ? 'EUR' : 'USD',
      tags: [`tag ${n}`, 'everybody'],
      traits: { [`field_${n % 3}`]: `value ${n}` },
    })
    const profile = Object.fromEntries(PROFILE.filter((_, at) => at !== n % 3).map((field) => [field, `${field} ${n}`]))
    const visitorId = `browser ${n % 2}`
    const call = { businessId: business, receivedAt: NOW + n }
    const [answer] = await pipeline.apply(
      { ...track(business, made), ...call },
      { ...identify(business, identifyFact(identityOf(n), { profile, visitorId, method: `${n}` })), ...call },
    )
    const contactId = (answer as ContactAnswer).contactId!
    // Two have opted out of email, and none of SMS.
    const channels = { email: n % 2 === 0, ...(n > 1 ? { sms: true } : {}) }
    await pipeline.apply({ kind: 'subscribe', ...call, contactId, channels, method: `form ${n}` })
    ids.push(contactId)
  }
  return ids
}

/** Joins two contacts: names the email of one and the phone of the other. */
const join = (business: string, a: number, b: number): RequestContext =>
  track(business, eventFact('joined', { email: identityOf(a).email, phone: identityOf(b).phone }))

/** Returns everything that is left of them. Ids are replaced by their places in `ids`. */
async function readAll(business: string, ids: string[]) {
  const { sql } = stack
  const left = await sql<{ id: string }[]>`
    select id from contacts where business_id = ${business} and merged_into is null order by created_at`
  const people = await Promise.all(
    left.map(({ id }) => readContact(sql, { businessId: business, contactId: id, currency: 'USD' })),
  )
  const rows = {
    subscriptions: await sql`
      select contact_id, channel, subscribed, method from subscriptions where business_id = ${business} order by 1, 2`,
    identifications: await sql`
      select contact_id, method, visitor_id from identifications where business_id = ${business} order by identified_at`,
    visitors: await sql`
      select visitor_id, contact_id, current_contact_id from visitors where business_id = ${business} order by 1`,
    links: await sql`
      select visitor_id, contact_id from visitor_links where business_id = ${business} order by visitor_id, from_at`,
    merged: await sql`select id, merged_into from contacts where business_id = ${business} order by created_at`,
  }
  const text = JSON.stringify({ people, ...rows })
  return JSON.parse(ids.reduce((replaced, id, n) => replaced.replaceAll(id, `contact ${n}`), text)) as {
    people: Awaited<ReturnType<typeof readContact>>[]
    merged: { id: string; merged_into: string | null }[]
  }
}

describe.each<[string, [number, number][]]>([
  [
    'a chain from its youngest end',
    [
      [4, 3],
      [3, 2],
      [2, 1],
      [1, 0],
    ],
  ],
  [
    'a chain from its oldest end',
    [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
    ],
  ],
  [
    'a star',
    [
      [0, 3],
      [0, 1],
      [0, 4],
      [0, 2],
    ],
  ],
  [
    'a star around the youngest',
    [
      [4, 2],
      [4, 3],
      [4, 0],
      [4, 1],
    ],
  ],
  [
    'pairs, and then the pairs',
    [
      [3, 4],
      [1, 2],
      [2, 3],
      [0, 4],
    ],
  ],
  [
    'two pairs that stay apart',
    [
      [3, 4],
      [0, 2],
    ],
  ],
])('%s', (_, pairs) => {
  it('gives what one merge at a time gives', async () => {
    const ids = await makeContacts(businessId)
    await pipeline.apply(...pairs.map(([a, b]) => join(businessId, a, b)))
    const atOnce = await readAll(businessId, ids)
    await takeBusiness()
    const others = await makeContacts(businessId)
    for (const [a, b] of pairs) await pipeline.apply(join(businessId, a, b))
    expect(atOnce).toEqual(await readAll(businessId, others))
    expect(atOnce.people).toHaveLength(COUNT - pairs.length)
  })
})

describe('merges of one micro-batch', () => {
  it('that pass through a contact which is made in it, end with the oldest', async () => {
    const made = await pipeline.track({
      ...track(businessId, eventFact('e', { email: 'a@x.io' })),
      receivedAt: NOW - 1,
    })
    await pipeline.track(track(businessId, eventFact('e', { platformCustomerId: 'c' }, { value: 5, tags: ['old'] })))
    await pipeline.apply(
      // This contact is made here. It is older than the one with the id, because its call was received earlier.
      { ...track(businessId, eventFact('e', { phone: '972500000001' })), receivedAt: NOW - 1 },
      track(businessId, eventFact('e', { platformCustomerId: 'c', phone: '972500000001' })),
      track(businessId, eventFact('e', { email: 'a@x.io', phone: '972500000001' })),
    )
    const [contact] = (await readAll(businessId, [])).people
    expect(contact).toMatchObject({ contactId: made.contactId, tags: ['old'], orderCount: 1 })
    expect(contact?.events).toMatchObject([{ event: 'e', count: 5 }])
    expect(contact?.mergedFrom).toHaveLength(2)
    expect(contact?.identities).toEqual({ email: ['a@x.io'], phone: ['972500000001'], platformCustomerId: ['c'] })
  })

  it('into a contact that is made in it, add what the others have counted', async () => {
    // Another partition was ahead: it has received this later, and applied it first.
    await pipeline.track({ ...track(businessId, eventFact('e', { email: 'a@x.io' })), receivedAt: NOW + 5 })
    const [made] = await pipeline.apply(
      track(businessId, eventFact('e', { platformCustomerId: 'c' })),
      track(businessId, eventFact('e', { platformCustomerId: 'c', email: 'a@x.io' })),
    )
    const [contact] = (await readAll(businessId, [])).people
    expect(contact).toMatchObject({ contactId: (made as TrackAnswer).contactId })
    expect(contact?.events).toMatchObject([{ event: 'e', count: 3 }])
  })

  it('stay within their own business when two businesses have the same fields', async () => {
    const other = await createBusiness(stack.sql)
    const mine = await makeContacts(businessId)
    const theirs = await makeContacts(other.businessId)
    await pipeline.apply(join(businessId, 0, 1), join(other.businessId, 3, 4), join(businessId, 1, 2))
    expect((await readAll(businessId, mine)).merged.map((row) => row.merged_into)).toEqual([
      null,
      'contact 0',
      'contact 0',
      null,
      null,
    ])
    const them = await readAll(other.businessId, theirs)
    expect(them.people.map((person) => person?.contactId)).toEqual(['contact 0', 'contact 1', 'contact 2', 'contact 3'])
  })

  it('take along all who had been merged into the losers, and send all of them to the timeline', async () => {
    const ids = await makeContacts(businessId)
    await pipeline.apply(join(businessId, 3, 4), join(businessId, 1, 2))
    const [{ last }] = await stack.sql<[{ last: number }]>`select max(id)::float8 as last from outbox`
    await pipeline.apply(join(businessId, 2, 3), join(businessId, 0, 1))
    const { merged } = await readAll(businessId, ids)
    expect(merged.slice(1).every((row) => row.merged_into === 'contact 0')).toBe(true)
    const changed = await stack.sql<{ contact_id: string }[]>`
      select t.contact_id from outbox o, unnest(o.contact_ids, o.changed) as t (contact_id, changed)
      where o.id > ${last} and t.changed`
    expect(changed.map((row) => row.contact_id).toSorted()).toEqual(ids.toSorted())
  })
})

it('a micro-batch that is one chain, as long as a contact can have identities, is applied like any other', async () => {
  const link = (n: number) => eventFact('linked', { email: `${n}@x.io`, phone: `97250${1_000_000 + n}` })
  const all = Array.from({ length: 500 }, (_, n) => n)
  await pipeline.apply(batch(businessId, all.map(link)))
  // From the end, so that each merge would have to move the data of all earlier ones.
  const calls = all.slice(1).toReversed()
  await pipeline.apply(
    ...calls.map((n) =>
      track(businessId, eventFact('joined', { email: `${n}@x.io`, phone: `97250${1_000_000 + n - 1}` })),
    ),
  )
  const [contact, ...others] = (await readAll(businessId, [])).people
  expect(others).toEqual([])
  expect(contact?.mergedFrom).toHaveLength(499)
  expect(contact?.events.map(({ event, count }) => [event, count])).toEqual([
    ['joined', 499],
    ['linked', 500],
  ])
})

describe('a merge and a web batch that see the same browsers', () => {
  const WAIT = { timeout: PATIENCE_MS }
  // The browser of the loser is 'browser 1'.
  it.each([
    ['a', 'browser 1'],
    ['browser 1', 'z'],
  ])('queue up for %s and %s', async (first, last) => {
    const { sql } = stack
    const own = await openPipeline(sql)
    let conflicts = 0
    own.deps.metrics = { conflict: () => (conflicts += 1) }
    const see = (visitorId: string) =>
      JSON.stringify([{ business_id: businessId, visitor_id: visitorId, seen_at: NOW }])
    const ids = await makeContacts(businessId)
    const visitorId = first === 'browser 1' ? last : first
    let merging: Promise<unknown> | undefined
    await sql.begin(async (web) => {
      await web`select see_visitors(${see(first)}::text::json)`
      merging = own.apply(identify(businessId, identifyFact(identityOf(0), { visitorId })), join(businessId, 0, 1))
      await vi.waitFor(async () => {
        const waiting = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        expect(waiting).toHaveLength(1)
      }, WAIT)
      await web`select see_visitors(${see(last)}::text::json)`
    })
    await merging
    expect(conflicts).toBe(0)
    const { people } = await readAll(businessId, ids)
    expect(people[0]?.visitorIds.toSorted()).toEqual(['browser 0', 'browser 1', visitorId].toSorted())
  })
})
