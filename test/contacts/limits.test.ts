/**
 * Everything that grows with one contact has a limit in the rules. Beyond it, a call gets a warning, and its event is
 * still recorded.
 */
import { uuidv7 } from 'uuidv7'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Contact, readContact } from '../../src/contacts/read/read-contact.ts'
import type { Identity } from '../../src/rules/events/facts.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import {
  NOW,
  type Pipeline,
  batch,
  browser,
  browserFact,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const ANN = { email: 'ann@x.io' }
const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
beforeEach(async () => {
  pipeline = await openPipeline(stack.sql)
  ;({ businessId } = await createBusiness(stack.sql))
})

const range = (many: number, from = 0) => Array.from({ length: many }, (_, n) => from + n)
const tagNames = (many: number, from = 0) => range(many, from).map((n) => `tag ${n}`)
const send = (identity: Identity, input: Parameters<typeof eventFact>[2] = {}) =>
  pipeline.track(track(businessId, eventFact('seen', identity, input)))

async function read(identity: Identity): Promise<Contact> {
  const { contactId } = await send(identity)
  const contact = await readContact(stack.sql, { businessId, contactId, currency: 'USD' })
  if (!contact) throw new Error('there is no such contact')
  return contact
}

async function deadLetters(): Promise<number> {
  const [row] = await stack.sql<[{ dead: number }]>`
    select count(*)::int as dead from dead_letters where business_id = ${businessId}`
  return row.dead
}

const seen = ({ events }: Contact) => events.find(({ event }) => event === 'seen')?.count

/** Returns a batch that sends these tags, 50 in each event. */
const tagged = (identity: Identity, names: string[]) =>
  batch(
    businessId,
    range(Math.ceil(names.length / 50)).map((n) =>
      eventFact('seen', identity, { tags: names.slice(n * 50, n * 50 + 50) }),
    ),
  )

describe('tags', () => {
  it('are kept up to 1,000 in a flood, and every event is recorded', async () => {
    const flood = range(10).map((n) => tagNames(25_000, n * 25_000).map((tag) => tag + '𝒳'.repeat(26)))
    for (const names of flood) {
      const { items } = await pipeline.batch(tagged(ANN, names))
      expect(items.every((item) => !('error' in item))).toBe(true)
    }
    const ann = await read(ANN)
    expect(ann.tags).toEqual(flood[0]?.slice(0, 1000))
    expect(seen(ann)).toBe(5001)
    expect(await deadLetters()).toBe(0)
  })

  it('are 1,000, and the next one is skipped with one warning, with and without the cache', async () => {
    await pipeline.apply(tagged(ANN, tagNames(999)))
    expect((await send(ANN, { tags: ['last'] })).warnings).toEqual([])
    const warning = '2 tags were skipped: a contact has at most 1,000'
    expect((await send(ANN, { tags: ['last', 'one', 'two'] })).warnings).toEqual([warning])
    expect((await send(ANN, { tags: ['last', 'one', 'two'] })).warnings).toEqual([warning])
    const other = await openPipeline(stack.sql)
    const answer = await other.track(track(businessId, eventFact('seen', ANN, { tags: ['tag 3', 'one', 'two'] })))
    expect(answer.warnings).toEqual([warning])
    expect((await read(ANN)).tags).toEqual([...tagNames(999), 'last'])
  })

  it('that are there already take no room', async () => {
    await pipeline.apply(tagged(ANN, tagNames(1000)))
    expect((await send(ANN, { tags: tagNames(50, 950) })).warnings).toEqual([])
  })

  it('are counted item by item within a micro-batch', async () => {
    const calls = range(22).map((n) => track(businessId, eventFact('seen', ANN, { tags: tagNames(50, n * 50) })))
    const answers = (await pipeline.apply(...calls)) as TrackAnswer[]
    expect(answers.map(({ warnings }) => warnings.length)).toEqual([...range(20).map(() => 0), 1, 1])
  })

  it('stay within the limit when partitions race, and refused ones get a warning', async () => {
    await pipeline.apply(tagged(ANN, tagNames(900)))
    const others = await Promise.all(range(4).map(() => openPipeline(stack.sql)))
    const answers = await Promise.all(
      others.map((other, n) =>
        other.track(track(businessId, eventFact('seen', ANN, { tags: tagNames(40, 2000 + n * 40) }))),
      ),
    )
    const { tags } = await read(ANN)
    expect(tags).toHaveLength(1000)
    const kept = answers.map(({ warnings }) => 40 - Number(/^(\d+) tags? /.exec(warnings[0] ?? '0 tags ')?.[1]))
    expect(kept.map((_, n) => tags.filter((tag) => tagNames(40, 2000 + n * 40).includes(tag)).length)).toEqual(kept)
  })

  it('are united in a merge up to 1,000, those of the survivor first', async () => {
    const phone = { phone: '972500000001' }
    await pipeline.apply(tagged(ANN, tagNames(700)))
    await pipeline.apply(tagged(phone, tagNames(700, 1000)))
    await pipeline.apply(track(businessId, eventFact('seen', { ...ANN, ...phone }, { tags: ['late'] })))
    const { tags } = await read(ANN)
    expect(tags).toHaveLength(1000)
    expect(tags.slice(0, 700)).toEqual(tagNames(700))
    expect(tags).not.toContain('late')
  })
})

describe('identities', () => {
  const CUSTOMER = { platformCustomerId: '42' }
  const email = (n: number) => ({ email: `mail${n}@x.io` })
  const add = (many: number, from = 0) =>
    batch(
      businessId,
      range(many, from).map((n) => eventFact('seen', { ...CUSTOMER, ...email(n) })),
    )

  it('are 100 of a kind: a further one is not added, with one warning, and is unknown afterwards', async () => {
    await pipeline.apply(add(100))
    const answer = await send({ ...CUSTOMER, ...email(100) })
    expect(answer.warnings).toEqual(['email was not added: a contact has at most 100 of a kind'])
    expect((await send({ ...CUSTOMER, phone: '972500000001' })).warnings).toEqual([])
    const contact = await read(CUSTOMER)
    expect(contact.identities.email).toEqual(range(100).map((n) => email(n).email))
    expect(contact.identities.phone).toHaveLength(1)
    expect(await send(email(100))).toMatchObject({ isNew: true })
  })

  it('stay few in a flood, and every event is recorded', async () => {
    for (const n of range(20)) await pipeline.apply(add(500, n * 500))
    const contact = await read(CUSTOMER)
    expect(contact.identities.email).toHaveLength(100)
    expect(seen(contact)).toBe(10_001)
  })

  it('number 1,000 at most after a merge: a merge past that is refused, and the call lands on the contact found first', async () => {
    const { contactId } = await send(ANN)
    const full = async (n: number, emails: number, phones: number) => {
      const id = uuidv7()
      await stack.sql`insert into contacts (business_id, id, created_at, keyed) values (${businessId}, ${id}, ${NOW + n}, true)`
      await stack.sql`
        insert into identities (business_id, kind, value, contact_id, proven)
        select ${businessId}::uuid, 'email', ${`e${n}`} || e || '@x.io', ${id}::uuid, true from generate_series(1, ${emails}::int) e
        union all
        select ${businessId}::uuid, 'phone', (1000000::bigint * ${n}::int + p)::text, ${id}::uuid, true
          from generate_series(1, ${phones}::int) p`
      return id
    }
    await full(1, 499, 500)
    expect((await send({ ...ANN, phone: '1000001' })).contactId).toBe(contactId)
    expect(await read(ANN)).toMatchObject({ mergedFrom: [expect.any(String)] })
    const other = await full(2, 0, 1)
    const answer = await send({ ...ANN, phone: '2000001' })
    expect(answer).toMatchObject({
      contactId,
      warnings: [
        'a contact was not merged: both together have more than 1,000 identities',
        'phone belongs to another contact and stays there',
      ],
    })
    expect((await send({ phone: '2000001' })).contactId).toBe(other)
    expect((await read(ANN)).identities.phone).toHaveLength(500)
  })
})

describe('cleared traits without a field', () => {
  const clears = (many: number, from = 0) => Object.fromEntries(range(many, from).map((n) => [`key_${n}`, null]))
  const stored = async () => {
    const [row] = await stack.sql<[{ keys: string[] }]>`
      select array(select jsonb_object_keys(traits))::text[] as keys from contacts
      where business_id = ${businessId} and merged_into is null order by created_at limit 1`
    return (row.keys as unknown as string).slice(1, -1).split(',')
  }

  it('are remembered for 1,000 keys, further ones skipped with one warning', async () => {
    await send(ANN, { traits: clears(500) })
    expect((await send(ANN, { traits: clears(500, 500) })).warnings).toEqual([])
    const over = await send(ANN, { traits: { ...clears(3, 999), plan: 'pro' } })
    expect(over.warnings).toEqual(['2 cleared traits were skipped: a contact remembers 1,000 that have no field'])
    expect(await stored()).toHaveLength(1001)
  })

  it('make room when their key gets a field', async () => {
    await send(ANN, { traits: clears(500) })
    await send(ANN, { traits: clears(500, 500) })
    await send({ email: 'bob@x.io' }, { traits: { key_7: 1 } })
    expect((await send(ANN, { traits: clears(1, 1000) })).warnings).toEqual([])
    expect((await send(ANN, { traits: clears(1, 1001) })).warnings).toHaveLength(1)
  })

  it('hold against an older value that makes the field', async () => {
    await send(ANN, { traits: { plan: null }, occurredAt: NOW - 1 })
    await send(ANN, { traits: { plan: 'pro' }, occurredAt: NOW - 2 })
    expect((await read(ANN)).customFields).toEqual({})
    await send(ANN, { traits: { plan: 'free' }, occurredAt: NOW })
    expect((await read(ANN)).customFields).toEqual({ plan: 'free' })
  })

  it('stay few in a flood, and every event is recorded', async () => {
    for (const n of range(8))
      await pipeline.apply(
        batch(
          businessId,
          range(50).map((at) => eventFact('seen', ANN, { traits: clears(500, (n * 50 + at) * 500) })),
        ),
      )
    expect(await stored()).toHaveLength(1000)
    expect(seen(await read(ANN))).toBe(401)
  })

  it('are 1,000 after a merge, those of the survivor first', async () => {
    const phone = { phone: '972500000001' }
    for (const n of [0, 1]) await send(ANN, { traits: clears(350, n * 350) })
    for (const n of [2, 3]) await send(phone, { traits: clears(350, n * 350) })
    await send({ ...ANN, ...phone })
    const keys = await stored()
    expect(keys).toHaveLength(1000)
    expect(keys).toEqual(expect.arrayContaining(Object.keys(clears(700))))
    expect((await send(ANN, { traits: clears(1, 5000) })).warnings).toHaveLength(1)
  })
})

describe('enrolments', () => {
  async function publish(many: number, trigger: string, goal: string | null = null, again = false) {
    await stack.sql`
      with made as (
        insert into campaigns (business_id, id, name, status, trigger_event, can_enter_again, goal_event, published_at)
        select ${businessId}, gen_random_uuid(), 'c', 'published', ${trigger}, ${again}, ${goal}::text, now()
        from generate_series(1, ${many}::int)
      )
      update businesses set config_version = config_version + 1 where id = ${businessId}`
  }
  const enrolments = async () => (await read(ANN)).enrolments
  const live = (event: string) => track(businessId, eventFact(event, ANN))

  it('are begun in 20 campaigns by one event, with one warning of those beyond', async () => {
    await publish(20, 'twenty')
    expect((await pipeline.track(live('twenty'))).warnings).toEqual([])
    expect(await enrolments()).toHaveLength(20)
    await publish(22, 'more')
    expect((await pipeline.track(live('more'))).warnings).toEqual([
      '2 campaigns were not entered: an event enrols in at most 20',
    ])
    expect((await pipeline.track(live('more'))).warnings).toEqual([])
    expect(await enrolments()).toHaveLength(42)
  })

  it('are 1,000 of a contact: a further one is not begun, with one warning, and ends go on', async () => {
    await publish(20, 'start', 'end', true)
    const answers = (await pipeline.apply(...range(50).flatMap(() => [live('start'), live('end')]))) as TrackAnswer[]
    expect(answers.flatMap(({ warnings }) => warnings)).toEqual([])
    expect(await enrolments()).toHaveLength(1000)
    expect((await pipeline.track(live('start'))).warnings).toEqual([
      '20 campaigns were not entered: a contact has at most 1,000 enrolments',
    ])
    expect(await enrolments()).toHaveLength(1000)
  })

  it('are not begun by a page past the limit either', async () => {
    await publish(21, 'start')
    await pipeline.apply(identify(businessId, identifyFact(ANN, { visitorId: 'v' })))
    const { warnings } = await pipeline.browser(browser(businessId, browserFact('start', 'v')))
    expect(warnings).toEqual(['1 campaign was not entered: an event enrols in at most 20'])
  })

  it('number 1,000 at most after a merge: a merge past that is refused', async () => {
    await publish(1, 'start')
    const phone = { phone: '972500000001' }
    const [first, second] = [await send(ANN), await send(phone)]
    for (const [contactId, many] of [
      [first.contactId, 600],
      [second.contactId, 401],
    ] as const)
      await stack.sql`
        insert into enrolments (business_id, id, campaign_id, contact_id, state, enrolled_at, received_at)
        select ${businessId}, gen_random_uuid(), gen_random_uuid(), ${contactId}, 'finished', 1, 1
        from generate_series(1, ${many}::int)`
    pipeline = await openPipeline(stack.sql)
    const answer = await send({ ...ANN, ...phone })
    expect(answer).toMatchObject({
      contactId: first.contactId,
      warnings: [
        'a contact was not merged: both together have more than 1,000 enrolments',
        'phone belongs to another contact and stays there',
      ],
    })
    await stack.sql`delete from enrolments where ctid = (select min(ctid) from enrolments where business_id = ${businessId})`
    pipeline = await openPipeline(stack.sql)
    expect((await send({ ...ANN, ...phone })).warnings).toEqual([])
    expect(await enrolments()).toHaveLength(1000)
  })
})

describe('browsers', () => {
  const sent = (n: number) => identify(businessId, identifyFact(ANN, { visitorId: `v${n}` }))

  it('are 1,000 of a contact: a further one is not linked, with one warning', async () => {
    for (const n of range(2)) await pipeline.apply(...range(499, n * 499).map(sent))
    expect(await pipeline.identify(sent(998))).toMatchObject({ linkedVisitor: true, warnings: [] })
    expect(await pipeline.identify(sent(999))).toMatchObject({ linkedVisitor: true, warnings: [] })
    const warnings = ['the visitorId was not linked: a contact has at most 1,000 browsers']
    expect(await pipeline.identify(sent(1000))).toMatchObject({ linkedVisitor: false, warnings })
    const { contactId } = await pipeline.browser(browser(businessId, browserFact('seen', 'v1000')))
    expect(contactId).toBeNull()
    const known = await pipeline.browser(browser(businessId, browserFact('seen', 'v3')))
    expect(known.contactId).toBe((await send(ANN)).contactId)
  })

  it('that another person had are anonymous when they are one too many', async () => {
    await pipeline.apply(identify(businessId, identifyFact({ email: 'bob@x.io' }, { visitorId: 'v1000' })))
    for (const n of range(2)) await pipeline.apply(...range(500, n * 500).map(sent))
    expect(await pipeline.identify(sent(1000))).toMatchObject({ linkedVisitor: false })
    const later = browserFact('seen', 'v1000', { occurredAt: NOW + 60_000 })
    expect((await pipeline.browser(browser(businessId, later))).contactId).toBeNull()
  })
})
