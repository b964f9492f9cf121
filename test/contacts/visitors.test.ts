/** To whom a browser belongs, and which data it brings to its contact. */
import { describe, expect, it } from 'vitest'
import {
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
import { businessId, pipeline, stack, useFreshBusiness } from '../support/fresh-business.ts'
import { readPeople } from '../support/read-people.ts'
import { ANN, BOB, V, W, did, isAnn, isBob, timeline } from './visitor-words.ts'

useFreshBusiness()

const linksOf = async (visitorId: string) =>
  (
    await stack.sql<{ from_at: number; contact_id: string | null }[]>`select from_at, contact_id from visitor_links
    where business_id = ${businessId} and visitor_id = ${visitorId} order by from_at`
  ).map((row) => [row.from_at, row.contact_id])

describe('a second person in the browser', () => {
  it('gets the events that follow; earlier ones stay with the first', async () => {
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

  it('that a backfill makes meanwhile is noticed', async () => {
    const { contactId: ann } = await pipeline.identify({ ...isAnn(V), keyed: true } as ReturnType<typeof isAnn>)
    await pipeline.identify({ ...isBob(W), keyed: true } as ReturnType<typeof isBob>)
    const backfill = await openPipeline(stack.sql)
    await backfill.batch(batch(businessId, [eventFact('e', { ...BOB, phone: '972541234567' })]))
    await backfill.batch(batch(businessId, [eventFact('e', { ...ANN, phone: '972541234567' })]))
    expect(await pipeline.browser(browser(businessId, browserFact('x', W)))).toMatchObject({ contactId: ann })
  })
})

describe('races', () => {
  it('between identifications join each event to a person once', async () => {
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

  it('with what other partitions see of the same browsers never deadlock', async () => {
    const ids = Array.from({ length: 40 }, (_, n) => n.toString(16).padStart(32, '0'))
    const see = async (round: number) => {
      const seen = ids.map((visitor_id) => ({ business_id: businessId, visitor_id, seen_at: NOW + round }))
      const shuffled = JSON.stringify(round % 2 === 0 ? seen : seen.toReversed())
      await stack.sql`select see_visitors(${shuffled}::text::json)`
    }
    const live = async (round: number) => {
      const calls = ids.map((visitorId, n) =>
        (n + round) % 2 === 0
          ? identify(businessId, identifyFact({ email: `p${round}@x.io` }, { visitorId }), false)
          : browser(businessId, browserFact('e', visitorId)),
      )
      await pipeline.apply(...(round % 3 === 0 ? calls : calls.toReversed()))
    }
    const rounds = Array.from({ length: 10 }, (_, n) => n)
    const inTurn = (work: (round: number) => Promise<void>) =>
      rounds.reduce((last, round) => last.then(() => work(round)), Promise.resolve())
    const before = await deadlocks()
    await Promise.all([inTurn(see), inTurn(live), inTurn(see)])
    expect((await deadlocks()) - before).toBe(0)
    expect(
      await stack.sql`select 1 from visitors where business_id = ${businessId} and last_seen_at = ${NOW + 9}`,
    ).toHaveLength(40)
    const counted = (await readPeople(stack.sql, businessId)).reduce(
      (sum, { events }) => sum + (events['e']?.[2] ?? 0),
      0,
    )
    const [waiting] = await stack.sql<{ count: number }[]>`
      select count(*)::int as count from visitor_events where business_id = ${businessId}`
    expect(counted + (waiting?.count ?? 0)).toBe(200)
  })
})

/** Counts deadlocks in the database of this file. */
async function deadlocks(): Promise<number> {
  await stack.sql`select pg_stat_clear_snapshot()`
  const [row] = await stack.sql<{ deadlocks: number }[]>`
    select deadlocks::int from pg_stat_database where datname = current_database()`
  return row?.deadlocks ?? 0
}

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
    await pipeline.browser(did('anew', Date.now() + 1000))
    expect(await left()).toEqual([1, 0, 1, 0])
  })

  const clickAt = (at: number, gclid: string) => ({ at, url: 'https://shop.example/', clickIds: { gclid } })
  const clicksOf = async (contactId: string, until = Date.now() + 5000) => {
    const rows = await stack.sql<{ click_id: string }[]>`
      select click_id from find_clicks(${businessId}, ${contactId}, array[${until}::bigint])`
    return rows.map(({ click_id }) => click_id)
  }
  const touchesOf = async () =>
    (await stack.sql`select first_touch, latest_touch from visitors where business_id = ${businessId}`)[0]

  it('gives the touches of the person, and the browser since then, to no earlier person', async () => {
    const { contactId: ann } = await pipeline.identify(isAnn())
    const { contactId: bob } = await pipeline.identify({ ...isBob(), receivedAt: NOW + 1 })
    const ofBob = clickAt(NOW + 2, 'bob')
    await pipeline.browser(did('of bob', NOW + 2, { first: ofBob, latest: ofBob }))
    expect(await clicksOf(bob)).toEqual(['bob'])
    await erase(bob)
    expect(await touchesOf()).toEqual({ first_touch: null, latest_touch: null })
    const now = Date.now() + 1000
    await pipeline.browser(did('anonymous', now, { first: ofBob, latest: clickAt(now, 'later') }))
    expect(await clicksOf(ann)).toEqual([])
    const { contactId: cid } = await pipeline.identify(
      identify(businessId, identifyFact({ email: 'cid@x.io' }, { visitorId: V }), false),
    )
    expect([await clicksOf(ann), await clicksOf(cid)]).toEqual([[], ['later']])
  })

  it('leaves the time of a person who came between two others to neither of them, and to each their own', async () => {
    const { contactId: ann } = await pipeline.identify(isAnn())
    const [ofAnn, ofBob, ofCid] = [clickAt(NOW - 1, 'ann'), clickAt(NOW + 2, 'bob'), clickAt(NOW + 4, 'cid')]
    await pipeline.browser(did('of ann', NOW - 1, { first: ofAnn, latest: ofAnn }))
    const { contactId: bob } = await pipeline.identify({ ...isBob(), receivedAt: NOW + 1 })
    await pipeline.browser(did('of bob', NOW + 2, { first: ofAnn, latest: ofBob }))
    const { contactId: cid } = await pipeline.identify({
      ...identify(businessId, identifyFact({ email: 'cid@x.io' }, { visitorId: V }), false),
      receivedAt: NOW + 3,
    })
    await erase(bob)
    await pipeline.browser(did('again', NOW + 5, { first: ofAnn, latest: ofBob }))
    expect(await touchesOf()).toEqual({ first_touch: ofAnn, latest_touch: ofAnn })
    await pipeline.browser(did('again', NOW + 6, { first: ofBob, latest: ofCid }))
    expect([await clicksOf(ann), await clicksOf(cid)]).toEqual([['ann'], ['cid']])
    await erase(ann)
    expect(await touchesOf()).toEqual({ first_touch: ofCid, latest_touch: ofCid })
    await erase(cid)
    expect(await left()).toEqual([0, 0, 0, 0])
  })

  it('is not undone by what the browser sends later from the time before, even when it is another person’s', async () => {
    await pipeline.browser(did('before', NOW, { first: touch, latest: touch }))
    const { contactId } = await pipeline.identify(isAnn())
    await erase(contactId)
    expect(await pipeline.browser(did('late', NOW - 1, { latest: touch }))).toMatchObject({ contactId: null })
    expect(await left()).toEqual([0, 0, 0, 0])
    const now = Date.now() + 1000
    await pipeline.browser(did('anew', now, { first: touch, latest: touch }))
    const [visitor] = await stack.sql`
      select first_seen_at, first_touch, latest_touch from visitors where business_id = ${businessId}`
    expect(visitor).toEqual({ first_seen_at: now, first_touch: null, latest_touch: null })
    await pipeline.identify({ ...isBob(), receivedAt: now + 1 })
    await pipeline.apply(did('late', NOW), { ...isBob(), receivedAt: now + 2 }, did('late', NOW - 1))
    expect((await readPeople(stack.sql, businessId)).map(({ events }) => Object.keys(events))).toEqual([['anew']])
  })

  it('is not undone by events dated up to 5 s before the person was identified, even when the browser is another person’s', async () => {
    const { contactId: ann } = await pipeline.identify({ ...isAnn(), receivedAt: NOW - 60_000 })
    const { contactId: bob } = await pipeline.identify(isBob())
    await erase(bob)
    expect(await pipeline.browser(did('of bob', NOW - 3000))).toMatchObject({ contactId: null })
    const isCid = identify(businessId, identifyFact({ email: 'cid@x.io' }, { visitorId: V }), false)
    await pipeline.identify({ ...isCid, receivedAt: Date.now() + 1000 })
    const late = [NOW - 5001, NOW - 5000, NOW - 3000, NOW + 1].map((at) => did(`at ${at - NOW}`, at))
    expect(await pipeline.apply(...late)).toMatchObject([ann, null, null, null].map((contactId) => ({ contactId })))
    expect(await stack.sql`select from visitor_events where business_id = ${businessId}`).toEqual([])
    const people = await readPeople(stack.sql, businessId)
    expect(people.map(({ events }) => Object.keys(events))).toEqual([['at -5001'], []])
  })

  it('that commits while the browser is being seen is noticed', async () => {
    await pipeline.browser(did('before'))
    const { contactId } = await pipeline.identify(isAnn())
    await pipeline.identify({ ...isBob(), receivedAt: NOW + 1 })
    const sighting = JSON.stringify([{ business_id: businessId, visitor_id: V, seen_at: NOW }])
    const see = () =>
      stack.sql`select see_visitors(${sighting}::text::json)`.then(
        () => 'seen',
        (error: { code: string }) => error.code,
      )
    const seen = await stack.sql.begin(async (tx) => {
      await tx`select erase_contact(${businessId}, ${contactId})`
      const waits = see()
      await new Promise((resolve) => setTimeout(resolve, 200))
      return { waits }
    })
    expect(await seen.waits).toBe('40001')
  })

  it('makes a browser that another has identified too anonymous, without what is known from the person', async () => {
    await pipeline.browser(did('before', NOW, { first: touch, latest: touch }))
    const { contactId: ann } = await pipeline.identify(isAnn())
    const { contactId: bob } = await pipeline.identify({ ...isBob(), receivedAt: NOW + 1 })
    await erase(bob)
    const [visitor] = await stack.sql`select contact_id, current_contact_id, first_touch, latest_touch from visitors
      where business_id = ${businessId}`
    expect(visitor).toEqual({ contact_id: ann, current_contact_id: null, first_touch: touch, latest_touch: touch })
    expect(await linksOf(V)).toEqual([
      [0, ann],
      [NOW + 1, null],
    ])
    expect(await pipeline.browser(did('who is it', Date.now() + 1000))).toMatchObject({ contactId: null })
    const { contactId: next } = await pipeline.identify({ ...isBob(), receivedAt: NOW + 2 })
    const [visit] = await stack.sql<{ to_at: number }[]>`
      select to_at from erased_visits where business_id = ${businessId}`
    expect(await linksOf(V)).toEqual([
      [0, ann],
      [NOW + 1, null],
      [visit?.to_at, next],
    ])
    expect((await readPeople(stack.sql, businessId)).map(({ events }) => Object.keys(events))).toEqual([
      ['before'],
      ['who is it'],
    ])
  })
})

describe('sightings', () => {
  it('say first and last, and the earliest and latest touch, in any order', async () => {
    const [early, late] = [NOW - 50, NOW - 5].map((at) => ({
      at,
      url: `https://shop.example/${at}`,
      clickIds: { gclid: 'g' },
    }))
    await pipeline.browser(did('b', NOW - 4, { first: late, latest: late }))
    await pipeline.apply(did('a', NOW - 40, { first: early, latest: early }), did('c', NOW - 10))
    const [visitor] = await stack.sql`select first_seen_at, last_seen_at, first_touch, latest_touch from visitors
      where business_id = ${businessId}`
    expect(visitor).toEqual({ first_seen_at: NOW - 40, last_seen_at: NOW - 4, first_touch: early, latest_touch: late })
  })
})
