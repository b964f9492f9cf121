/** Whose a browser is, and what it brings along. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCampaign } from '../../src/campaigns/create-campaign.ts'
import { publishCampaign } from '../../src/campaigns/publish-campaign.ts'
import type { TimelineRow } from '../../src/timeline/outbox-row.ts'
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
import { readPeople } from '../support/read-people.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'

const ANN = { email: 'ann@x.io' }
const BOB = { email: 'bob@x.io' }
const V = 'a'.repeat(32)
const W = 'b'.repeat(32)
let stack: Stack
let pipeline: Pipeline
let businessId: string
beforeAll(async () => {
  stack = await openStack()
  pipeline = await openPipeline(stack.sql)
})
afterAll(() => stack.close())
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
})

const did = (event: string, at = NOW, input = {}) =>
  browser(businessId, browserFact(event, V, { occurredAt: at, ...input }), at)
const isAnn = (visitorId = V) => identify(businessId, identifyFact(ANN, { visitorId }), false)
const isBob = (visitorId = V) => identify(businessId, identifyFact(BOB, { visitorId }), false)

/** What the timeline was told: the event and the contact. */
async function timeline(): Promise<[event: string, contactId: string, at: number][]> {
  const rows = await stack.sql<{ events: string }[]>`
    select events from outbox where ${businessId} = any (business_ids) order by id`
  return rows
    .flatMap(({ events }) => events.split('\n').filter(Boolean))
    .map((line) => JSON.parse(line) as TimelineRow)
    .map(({ event, contact_id, occurred_ms }) => [event, contact_id, occurred_ms])
}
const waiting = async (): Promise<number> =>
  (await stack.sql`select 1 from visitor_events where business_id = ${businessId}`).length
const linksOf = async (visitorId: string) =>
  (
    await stack.sql<{ from_at: number; contact_id: string }[]>`select from_at, contact_id from visitor_links
    where business_id = ${businessId} and visitor_id = ${visitorId} order by from_at`
  ).map((row) => [row.from_at, row.contact_id])

describe('an event of a visitor whom nobody has identified', () => {
  it('is nobody’s, and joins the contact once there is one: with its own time, once', async () => {
    const answer = await pipeline.browser(did('pricing_page_viewed', NOW - 5000, { properties: '{"plan":"pro"}' }))
    expect(answer).toEqual({
      contactId: null,
      isNew: false,
      deduped: false,
      interpreted: { type: 'none', countedRevenue: 0 },
      warnings: [],
    })
    await pipeline.browser(did('demo', NOW - 4000))
    await pipeline.browser(did('demo', NOW - 6000))
    expect([await readPeople(stack.sql, businessId), await timeline(), await waiting()]).toEqual([[], [], 3])

    const { contactId, linkedVisitor } = await pipeline.identify(isAnn())
    expect(linkedVisitor).toBe(true)
    await pipeline.identify(isAnn())
    const [ann] = await readPeople(stack.sql, businessId)
    expect(ann).toMatchObject({
      stage: 1,
      events: { demo: [NOW - 6000, NOW - 4000, 2], pricing_page_viewed: [NOW - 5000, NOW - 5000, 1] },
    })
    expect(await timeline()).toEqual([
      ['pricing_page_viewed', contactId, NOW - 5000],
      ['demo', contactId, NOW - 4000],
      ['demo', contactId, NOW - 6000],
    ])
    expect(await waiting()).toBe(0)
  })

  it('joins also within one micro-batch, and through a keyed track', async () => {
    await pipeline.browser(did('a', NOW - 3))
    const [first] = await pipeline.apply(
      did('b', NOW - 2),
      track(businessId, eventFact('c', ANN, { visitorId: V })),
      did('d'),
    )
    expect(first).toMatchObject({ contactId: null })
    const [ann] = await readPeople(stack.sql, businessId)
    expect(Object.keys(ann?.events ?? {})).toEqual(['a', 'b', 'c', 'd'])
    expect((await timeline()).map(([event]) => event).sort()).toEqual(['a', 'b', 'c', 'd'])
    expect(new Set((await timeline()).map(([, contactId]) => contactId)).size).toBe(1)
  })

  it('is an order when its name says so, and never money', async () => {
    await pipeline.browser(did('purchase'))
    await pipeline.apply(did('purchase'), isAnn())
    await pipeline.browser(did('purchase'))
    expect((await readPeople(stack.sql, businessId))[0]).toMatchObject({ orders: 3, revenue: {}, stage: 2 })
  })

  it('sent twice counts once, also when the visitor was identified in between', async () => {
    const sent = did('demo', NOW, { messageId: 'm' })
    expect(await pipeline.apply(sent, sent)).toMatchObject([{ deduped: false }, { deduped: true, contactId: null }])
    const { contactId } = await pipeline.identify(isAnn())
    expect(await pipeline.browser(sent)).toMatchObject({ deduped: true, contactId })
    const other = browser(businessId, browserFact('demo', W, { messageId: 'm' }))
    expect(await pipeline.browser(other)).toMatchObject({ deduped: false })
    // A caller's key is another thing.
    const keyed = track(businessId, eventFact('demo', ANN, { idempotencyKey: 'm' }))
    expect(await pipeline.track(keyed)).toMatchObject({ deduped: false })
    expect((await readPeople(stack.sql, businessId))[0]?.events['demo']?.[2]).toBe(2)
  })

  it('starts no campaign when it joins, and reaches goals by its own time', async () => {
    const campaign = async (trigger: string, goal: string) => {
      const { campaignId } = await createCampaign(stack.sql, businessId, {
        name: trigger,
        triggerEvent: trigger,
        canEnterAgain: false,
        goalEvent: goal,
      })
      await publishCampaign(stack.sql, businessId, campaignId)
    }
    await campaign('demo', 'never')
    await campaign('signup', 'done')
    await campaign('tried', 'early')
    pipeline.deps.configs.clear()
    await pipeline.track(track(businessId, eventFact('signup', ANN, { occurredAt: NOW - 100 })))
    await pipeline.track(track(businessId, eventFact('tried', ANN, { occurredAt: NOW - 100 })))
    for (const [event, at] of [
      ['demo', NOW - 9],
      ['early', NOW - 101],
      ['done', NOW - 102],
      ['done', NOW - 99],
    ] as const)
      await pipeline.browser(did(event, at))
    await pipeline.identify(isAnn())
    const states = await stack.sql<
      { name: string; state: string }[]
    >`select c.name, e.state from enrolments e join campaigns c on c.id = e.campaign_id
      where e.business_id = ${businessId} order by c.name`
    expect(states.map(({ name, state }) => [name, state])).toEqual([
      ['signup', 'converted'],
      ['tried', 'stopped'],
    ])
    // From now on it is live.
    await pipeline.browser(did('demo'))
    expect(await stack.sql`select 1 from enrolments where business_id = ${businessId}`).toHaveLength(3)
  })

  it('is kept up to 1,000 times: the oldest goes first', async () => {
    const many = Array.from({ length: 1000 }, (_, n) => did(`e${n}`, NOW + n))
    await pipeline.apply(...many)
    expect(await waiting()).toBe(1000)
    await pipeline.browser(did('last', NOW + 1000))
    expect(await waiting()).toBe(1000)
    await pipeline.identify(isAnn())
    const [ann] = await readPeople(stack.sql, businessId)
    expect([Object.keys(ann?.events ?? {}).length, ann?.events['e0'], ann?.events['last']?.[2]]).toEqual([
      1000,
      undefined,
      1,
    ])
  })

  it('is kept up to 512 KiB of timeline', async () => {
    const properties = JSON.stringify({ text: 'x'.repeat(32_000) })
    for (let n = 0; n < 16; n += 1) await pipeline.browser(did(`e${n}`, NOW, { properties }))
    expect(await waiting()).toBe(16)
    await pipeline.browser(did('one more', NOW, { properties }))
    expect(await waiting()).toBe(16)
    expect(
      await stack.sql`select 1 from visitor_events where business_id = ${businessId} and event = 'e0'`,
    ).toHaveLength(0)
  })
})

describe('a second person in the browser', () => {
  it('gets what follows; what came before stays with the first', async () => {
    await pipeline.browser(did('before'))
    const { contactId: ann } = await pipeline.identify(isAnn())
    expect(await pipeline.browser(did('of ann'))).toMatchObject({ contactId: ann })
    const bob = await pipeline.identify({ ...isBob(), receivedAt: NOW + 10 })
    expect(bob.linkedVisitor).toBe(true)
    expect(await pipeline.browser(did('of bob'))).toMatchObject({ contactId: bob.contactId })
    const again = await pipeline.identify({ ...isAnn(), receivedAt: NOW + 20 })
    expect(again.linkedVisitor).toBe(false)
    expect(await pipeline.browser(did('of ann again'))).toMatchObject({ contactId: ann })
    expect((await readPeople(stack.sql, businessId)).map(({ events }) => Object.keys(events))).toEqual([
      ['before', 'of ann', 'of ann again'],
      ['of bob'],
    ])
    expect(await linksOf(V)).toEqual([
      [0, ann],
      [NOW + 10, bob.contactId],
      [NOW + 20, ann],
    ])
  })

  it('in one micro-batch, at one instant or with a clock set back', async () => {
    const answers = await pipeline.apply(did('before'), isAnn(), did('a'), isBob(), did('b'), {
      ...isAnn(),
      receivedAt: NOW - 9,
    })
    const [ann, bob] = [1, 3].map((n) => (answers[n] as { contactId: string }).contactId)
    expect(answers.map((answer) => (answer as { contactId: string | null }).contactId)).toEqual([
      null,
      ann,
      ann,
      bob,
      bob,
      ann,
    ])
    expect(await linksOf(V)).toEqual([
      [0, ann],
      [NOW, bob],
      [NOW + 1, ann],
    ])
    expect((await readPeople(stack.sql, businessId)).map(({ events }) => Object.keys(events))).toEqual([
      ['a', 'before'],
      ['b'],
    ])
  })

  it('is not moved by a keyed track', async () => {
    const { contactId: ann } = await pipeline.identify(isAnn())
    await pipeline.track(track(businessId, eventFact('e', BOB, { visitorId: V })))
    expect(await pipeline.browser(did('x'))).toMatchObject({ contactId: ann })
  })
})

describe('a merge', () => {
  it('keeps the visitors of both, in the micro-batch of the identification too', async () => {
    await pipeline.browser(did('on v'))
    await pipeline.browser(browser(businessId, browserFact('on w', W)))
    await pipeline.identify({ ...isAnn(V), keyed: true } as ReturnType<typeof isAnn>)
    const answers = await pipeline.apply(
      { ...isBob(W), keyed: true } as ReturnType<typeof isBob>,
      track(businessId, eventFact('joined', { ...BOB, phone: '972541234567' })),
      track(businessId, eventFact('joined', { ...ANN, phone: '972541234567' })),
      browser(businessId, browserFact('after', W)),
    )
    const { contactId } = answers[3] as { contactId: string }
    expect(await pipeline.browser(did('after'))).toMatchObject({ contactId })
    const [person, ...others] = await readPeople(stack.sql, businessId)
    expect(others).toEqual([])
    expect(person?.events).toMatchObject({ after: [NOW, NOW, 2], 'on v': [NOW, NOW, 1], 'on w': [NOW, NOW, 1] })
    expect([await linksOf(V), await linksOf(W)]).toEqual([[[0, contactId]], [[0, contactId]]])
  })

  it('that a backfill does meanwhile is heard of', async () => {
    const { contactId: ann } = await pipeline.identify({ ...isAnn(V), keyed: true } as ReturnType<typeof isAnn>)
    await pipeline.identify({ ...isBob(W), keyed: true } as ReturnType<typeof isBob>)
    const backfill = await openPipeline(stack.sql)
    await backfill.batch(batch(businessId, [eventFact('e', { ...BOB, phone: '972541234567' })]))
    await backfill.batch(batch(businessId, [eventFact('e', { ...ANN, phone: '972541234567' })]))
    expect(await pipeline.browser(browser(businessId, browserFact('x', W)))).toMatchObject({ contactId: ann })
  })
})

describe('races', () => {
  it('of two identifications join each event once', async () => {
    const rivals = await Promise.all(Array.from({ length: 4 }, () => openPipeline(stack.sql)))
    const names = Array.from({ length: 20 }, (_, n) => `e${n}`)
    await pipeline.apply(...names.map((name) => did(name)))
    await Promise.all(
      rivals.map((rival, n) =>
        rival.identify(identify(businessId, identifyFact({ email: `p${n}@x.io` }, { visitorId: V }), false)),
      ),
    )
    const people = await readPeople(stack.sql, businessId)
    const counted = people.flatMap(({ events }) => Object.keys(events))
    expect(counted.sort()).toEqual([...names].sort())
    expect((await timeline()).map(([event]) => event).sort()).toEqual([...names].sort())
    expect(await linksOf(V)).toHaveLength(4)
  })
})

describe('an erasure', () => {
  const erase = (contactId: string) => pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId })
  const tables = ['visitors', 'visitor_links', 'visitor_events', 'contact_visitors']
  const left = async () => {
    const counts = await Promise.all(
      tables.map((table) => stack.sql`select 1 from ${stack.sql(table)} where business_id = ${businessId}`),
    )
    return counts.map((rows) => rows.length)
  }
  const touch = { at: NOW - 9, url: 'https://shop.example/', utm: { source: 'news' } }

  it('takes the browsers that were the person’s alone; a repeat brings nothing back', async () => {
    await pipeline.browser(did('before', NOW, { messageId: 'm', first: touch, latest: touch }))
    const { contactId } = await pipeline.identify(isAnn())
    await pipeline.browser(did('after', NOW, { messageId: 'n' }))
    await erase(contactId)
    expect(await left()).toEqual([0, 0, 0, 0])
    for (const messageId of ['m', 'n'])
      expect(await pipeline.browser(did('before', NOW, { messageId }))).toMatchObject({
        deduped: true,
        contactId: null,
      })
    expect(await left()).toEqual([0, 0, 0, 0])
    expect(await pipeline.browser(did('anew'))).toMatchObject({ contactId: null })
  })

  it('leaves a browser that another has identified too to nobody, without what the person told', async () => {
    await pipeline.browser(did('before', NOW, { first: touch, latest: touch }))
    const { contactId: ann } = await pipeline.identify(isAnn())
    const { contactId: bob } = await pipeline.identify({ ...isBob(), receivedAt: NOW + 1 })
    await erase(bob)
    const [visitor] = await stack.sql`select contact_id, current_contact_id, first_touch, latest_touch from visitors
      where business_id = ${businessId}`
    expect(visitor).toEqual({ contact_id: ann, current_contact_id: null, first_touch: touch, latest_touch: null })
    expect(await linksOf(V)).toEqual([[0, ann]])
    expect(await pipeline.browser(did('who is it'))).toMatchObject({ contactId: null })
    const { contactId: next } = await pipeline.identify({ ...isBob(), receivedAt: NOW + 2 })
    expect(await linksOf(V)).toEqual([
      [0, ann],
      [NOW + 2, next],
    ])
    expect((await readPeople(stack.sql, businessId)).map(({ events }) => Object.keys(events))).toEqual([
      ['before'],
      ['who is it'],
    ])
  })
})

describe('sightings', () => {
  it('say first and last, and the earliest and latest touch, in any order', async () => {
    const [early, late] = [NOW - 50, NOW - 5].map((at) => ({ at, url: `https://shop.example/${at}` }))
    await pipeline.browser(did('b', NOW - 4, { first: late, latest: late }))
    await pipeline.apply(did('a', NOW - 40, { first: early, latest: early }), did('c', NOW - 10))
    const [visitor] = await stack.sql`select first_seen_at, last_seen_at, first_touch, latest_touch from visitors
      where business_id = ${businessId}`
    expect(visitor).toEqual({ first_seen_at: NOW - 40, last_seen_at: NOW - 4, first_touch: early, latest_touch: late })
  })
})
