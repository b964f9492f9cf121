/** A visitor id that very many people send: it has 1,000 contacts at most, and beyond that it becomes anonymous. */
import { expect, it } from 'vitest'
import { fillVisitor } from '../support/fill-visitor.ts'
import { NOW, browser, browserFact, eventFact, identify, identifyFact, openPipeline, track } from '../support/facts.ts'
import { businessId, pipeline, stack, useFreshBusiness } from '../support/fresh-business.ts'

const V = 'a'.repeat(32)
const VISITOR_SHARED = 'the visitorId is no longer linked to a contact: over 1000 contacts were identified with it'
const NOT_KEPT = 'the event was not stored: over 1000 contacts were identified with its visitorId'
useFreshBusiness()

const is = (name: string, keyed = false) =>
  identify(businessId, identifyFact({ email: `${name}@x.io` }, { visitorId: V }), keyed)
const isAlso = (name: string, phone: string) =>
  identify(businessId, identifyFact({ email: `${name}@x.io`, phone }), true)
const did = (event: string, at = NOW) => browser(businessId, browserFact(event, V, { occurredAt: at }))
const fill = (count: number) => fillVisitor(stack.sql, businessId, V, count)
const erase = (contactId: string) => pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId })

/** Counts the rows of the browser, and its rows in the outbox. */
async function sizes() {
  const [row] = await stack.sql<
    { crowded: boolean; listed: number; links: number; waiting: number; named: number; current: string | null }[]
  >`
    select v.crowded, v.current_contact_id as current,
      (select count(*)::int from contact_visitors where business_id = ${businessId} and visitor_id = ${V}) as listed,
      (select count(*)::int from visitor_links where business_id = ${businessId} and visitor_id = ${V}) as links,
      (select count(*)::int from visitor_events where business_id = ${businessId} and visitor_id = ${V}) as waiting,
      (select count(*)::int from outbox o, unnest(o.visitor_business_ids) as named where named = ${businessId}) as named
    from visitors v where v.business_id = ${businessId} and v.visitor_id = ${V}`
  return row
}

it('a visitor id with 1,000 contacts is like any other', async () => {
  const people = await fill(999)
  const ann = await pipeline.identify(is('ann'))
  expect(ann).toMatchObject({ isNew: true, linkedVisitor: true, warnings: [] })
  expect(await pipeline.browser(did('e'))).toMatchObject({ contactId: ann.contactId, warnings: [] })
  expect(await pipeline.identify(is('p7'))).toMatchObject({ contactId: people[6], linkedVisitor: false, warnings: [] })
  expect(await pipeline.browser(did('e'))).toMatchObject({ contactId: people[6] })
  expect(await sizes()).toMatchObject({ crowded: false, listed: 1000, links: 1001, waiting: 0 })
})

it('a visitor id with one contact more is anonymous; every call does everything else as usual', async () => {
  await fill(1000)
  const crowded = { linkedVisitor: false, warnings: [VISITOR_SHARED] }
  const ann = await pipeline.identify(is('ann'))
  expect(ann).toMatchObject({ ...crowded, isNew: true })
  expect(await pipeline.identify(is('p7'))).toMatchObject({ ...crowded, isNew: false })
  expect(await pipeline.identify(is('ann', true))).toMatchObject({ ...crowded, contactId: ann.contactId })
  const late = NOW - 2 * 3_600_000
  for (const at of [NOW, late])
    expect(await pipeline.browser(did('e', at))).toMatchObject({
      contactId: null,
      deduped: false,
      warnings: [NOT_KEPT],
    })
  const sent = track(businessId, eventFact('e', { email: 'bob@x.io' }, { visitorId: V }))
  expect(await pipeline.track(sent)).toMatchObject({ isNew: true, warnings: [] })
  expect(await sizes()).toEqual({ crowded: true, current: null, listed: 1000, links: 1001, waiting: 0, named: 1 })
  const statistics = await stack.sql`select count from event_statistics where business_id = ${businessId}`
  expect(statistics).toEqual([{ count: 1 }])
  const identified = await stack.sql`select from identifications where business_id = ${businessId}`
  expect(identified).toHaveLength(3)
})

it('grows no further, however many more there are', async () => {
  await fill(1000)
  await pipeline.identify(is('ann'))
  const before = await sizes()
  const many = Array.from({ length: 50 }, (_, n) => is(`q${n}`))
  await pipeline.apply(...many, ...many)
  await pipeline.apply(...many.map((_, n) => did(`e${n}`)))
  expect(await sizes()).toEqual(before)
})

it('becomes crowded within one micro-batch too', async () => {
  await fill(999)
  const answers = await pipeline.apply(is('ann'), did('a'), is('bob'), did('b'), is('ann'), did('c'))
  const ann = (answers[0] as { contactId: string }).contactId
  expect(answers).toMatchObject([
    { linkedVisitor: true },
    { contactId: ann },
    { linkedVisitor: false, warnings: [VISITOR_SHARED] },
    { contactId: null },
    { contactId: ann, linkedVisitor: false, warnings: [VISITOR_SHARED] },
    { contactId: null },
  ])
  expect(await sizes()).toMatchObject({ crowded: true, current: null, listed: 1000, links: 1001, waiting: 0 })
})

it('shows no stranger what a person is subscribed to', async () => {
  const [first] = await fill(1000)
  const choice = { channels: { email: true }, method: 'form' }
  await pipeline.apply({ kind: 'subscribe', businessId, receivedAt: NOW, contactId: first ?? '', ...choice })
  expect((await pipeline.identify(is('p1'))).subscriptions.email).toBe(true)
  await pipeline.identify(is('ann'))
  expect((await pipeline.identify(is('p1'))).subscriptions.email).toBe(false)
  expect((await pipeline.identify(is('p1', true))).subscriptions.email).toBe(true)
})

it('takes one of many who come at once', async () => {
  await fill(999)
  const rivals = await Promise.all(Array.from({ length: 4 }, () => openPipeline(stack.sql)))
  const answers = await Promise.all(rivals.map((rival, n) => rival.identify(is(`r${n}`))))
  expect(answers.filter(({ linkedVisitor }) => linkedVisitor)).toHaveLength(1)
  expect(await sizes()).toMatchObject({ crowded: true, listed: 1000, links: 1001 })
})

it('has room for one more when two of them turn out to be one', async () => {
  const [first] = await fill(1000)
  const phone = '972541234567'
  await pipeline.identify(isAlso('p1', phone))
  const [merged, ann, ofAnn, bob] = await pipeline.apply(isAlso('p1000', phone), is('ann'), did('e'), is('bob'))
  expect(merged).toMatchObject({ contactId: first })
  expect(ann).toMatchObject({ linkedVisitor: true, warnings: [] })
  expect(ofAnn).toMatchObject({ contactId: (ann as { contactId: string }).contactId })
  expect(bob).toMatchObject({ linkedVisitor: false, warnings: [VISITOR_SHARED] })
  expect(await sizes()).toMatchObject({ crowded: true, listed: 1000, links: 1002 })
})

it('has room for one more when one of them is erased, and the time of the erased one is anonymous', async () => {
  const people = await fill(1000)
  await erase(people[499] ?? '')
  expect(await sizes()).toMatchObject({ crowded: false, listed: 999, links: 1000, current: people[999] })
  const nobodys = await stack.sql`
    select from_at from visitor_links where business_id = ${businessId} and contact_id is null`
  const [visit] = await stack.sql`select from_at, to_at from erased_visits where business_id = ${businessId}`
  const from = NOW - 3_600_000 - 500
  expect([nobodys, visit]).toEqual([[{ from_at: from }], { from_at: from, to_at: from + 1 }])
  expect((await pipeline.identify(is('ann'))).linkedVisitor).toBe(true)
  expect((await pipeline.identify(is('bob'))).linkedVisitor).toBe(false)
})

it('stays crowded through erasures, also of its last known contact', async () => {
  const people = await fill(1000)
  await pipeline.identify(is('ann'))
  await erase(people[0] ?? '')
  expect(await sizes()).toMatchObject({ crowded: true, listed: 999, links: 1001 })
  await stack.sql`delete from contact_visitors where business_id = ${businessId} and contact_id <> ${people[999] ?? ''}`
  await erase(people[999] ?? '')
  expect(await sizes()).toMatchObject({ crowded: true, current: null, listed: 0 })
  expect(await pipeline.identify(is('bob'))).toMatchObject({ linkedVisitor: false, warnings: [VISITOR_SHARED] })
  expect(await pipeline.browser(did('e', Date.now() + 1000))).toMatchObject({ contactId: null, warnings: [NOT_KEPT] })
})
