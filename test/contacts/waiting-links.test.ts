/**
 * `confirmed`: a link that a page reports for a person known from a keyed call waits until a keyed call names the
 * browser.
 */
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { draftCampaign, publishDraft } from '../support/campaigns.ts'
import { readContact } from '../../src/contacts/read/read-contact.ts'
import { forgetVisitors } from '../../src/erasure/forget-visitors.ts'
import { addTo, readDeliveries } from '../deliveries/delivery-lab.ts'
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
import { businessId, pipeline, stack, takeBusiness, useFreshBusiness } from '../support/fresh-business.ts'
import { readPeople } from '../support/read-people.ts'
import { ANN, BOB, V, W, did, isAnn, isBob } from './visitor-words.ts'
import { runs } from '../support/runs.ts'

useFreshBusiness()
beforeEach(() => setPages('confirmed'))

async function setPages(mode: 'open' | 'confirmed'): Promise<void> {
  await stack.sql`update businesses set page_identify = ${mode}, config_version = config_version + 1 where id = ${businessId}`
  pipeline.deps.configs.clear()
}
const CID = { email: 'cid@x.io' }
const keyed = (who: typeof ANN, visitorId: string | null = V, receivedAt = NOW): RequestContext => ({
  ...identify(businessId, identifyFact(who, { visitorId })),
  receivedAt,
})
const paged = (who: typeof ANN, visitorId = V, receivedAt = NOW): RequestContext => ({
  ...identify(businessId, identifyFact(who, { visitorId }), false),
  receivedAt,
})
const bought = (who: typeof ANN, visitorId: string | null = null, at = NOW): RequestContext => ({
  ...track(businessId, eventFact('signup', who, { visitorId, occurredAt: at })),
  receivedAt: at,
})
const contactOf = async (contactId: string) => {
  const contact = await readContact(stack.sql, { businessId, contactId, currency: 'USD' })
  if (!contact) throw new Error('there is no such contact')
  return contact
}
const eventsOf = async (contactId: string) => (await contactOf(contactId)).events.map(({ event }) => event)
const waiting = async () =>
  (
    await stack.sql<{ event: string }[]>`
    select event from visitor_events where business_id = ${businessId} order by event_id`
  ).map(({ event }) => event)
const clicksOf = async (contactId: string) =>
  (
    await stack.sql<{ click_id: string }[]>`
    select click_id from find_clicks(${businessId}, ${contactId}, array[${NOW + 1000}::bigint])`
  ).map(({ click_id }) => click_id)
const clicked = (gclid: string, at = NOW - 10) => ({ at, url: 'https://shop.example/', clickIds: { gclid } })

describe('a page’s word about a person whom a keyed call has used', () => {
  it('links no contact: events, touches and history stay with the visitor until a keyed call names it', async () => {
    const { contactId: ann } = await pipeline.track(bought(ANN))
    await pipeline.browser(did('before', NOW - 9, { first: clicked('his') }))
    const said = await pipeline.identify(isAnn())
    expect(said).toMatchObject({ contactId: ann, isNew: false, linkedVisitor: false })
    expect(await pipeline.browser(did('after'))).toMatchObject({ contactId: null })
    expect(await pipeline.identify(isAnn())).toMatchObject({ contactId: ann, linkedVisitor: false })
    expect([await eventsOf(ann), (await contactOf(ann)).visitorIds, await clicksOf(ann)]).toEqual([['signup'], [], []])
    expect(await waiting()).toEqual(['before', 'after'])

    expect(await pipeline.identify(keyed(ANN))).toMatchObject({ contactId: ann, linkedVisitor: true })
    expect([await eventsOf(ann), (await contactOf(ann)).visitorIds, await clicksOf(ann)]).toEqual([
      ['after', 'before', 'signup'],
      [V],
      ['his'],
    ])
    expect(await waiting()).toEqual([])
    expect(await pipeline.browser(did('then'))).toMatchObject({ contactId: ann })
    // A page may repeat an identification that a keyed call has made, even after another person's.
    await pipeline.identify({ ...isBob(), receivedAt: NOW + 1 })
    expect(await pipeline.identify({ ...isAnn(), receivedAt: NOW + 2 })).toMatchObject({ linkedVisitor: false })
    expect(await pipeline.browser(did('again', NOW + 2))).toMatchObject({ contactId: ann })
  })

  it('is confirmed by a keyed track that names the visitor, and by no repeat', async () => {
    const { contactId: ann } = await pipeline.track(bought(ANN))
    const order = (visitorId: string | null) =>
      track(businessId, eventFact('order', ANN, { idempotencyKey: 'k', visitorId }))
    await pipeline.track(order(null))
    await pipeline.identify(isAnn())
    expect(await pipeline.track(order(V))).toMatchObject({ deduped: true })
    expect(await pipeline.browser(did('after'))).toMatchObject({ contactId: null })
    await pipeline.track(bought(ANN, V))
    expect([await eventsOf(ann), (await contactOf(ann)).visitorIds]).toEqual([['after', 'order', 'signup'], [V]])
  })

  it('may be given by the keyed call to another person, who then keeps it', async () => {
    await pipeline.track(bought(ANN))
    await pipeline.identify(isAnn())
    await pipeline.browser(did('e', NOW, { first: clicked('c') }))
    const { contactId: bob } = await pipeline.track(bought(BOB, V))
    expect([await eventsOf(bob), await clicksOf(bob), (await contactOf(bob)).visitorIds]).toEqual([
      ['e', 'signup'],
      ['c'],
      [V],
    ])
    expect(await pipeline.browser(did('f'))).toMatchObject({ contactId: bob })
  })

  it('takes the browser from its former person, and its time does not go to the next person whom a page names', async () => {
    const { contactId: ann } = await pipeline.track(bought(ANN))
    const { contactId: cid } = await pipeline.identify(paged(CID, V, NOW - 100))
    await pipeline.identify(paged(ANN, V, NOW - 50))
    expect(await pipeline.browser(did('of ann', NOW - 40))).toMatchObject({ contactId: null })
    await pipeline.identify(paged(BOB, V, NOW - 30))
    const { contactId: bob } = await pipeline.browser(did('of bob', NOW))
    expect([await waiting(), await eventsOf(bob ?? ''), await eventsOf(cid)]).toEqual([['of ann'], ['of bob'], []])
    await pipeline.track(bought(ANN, V, NOW + 1))
    expect([await eventsOf(ann), await waiting()]).toEqual([['of ann', 'signup'], []])
    // A track call never moves a browser.
    expect(await pipeline.browser(did('live', NOW + 2))).toMatchObject({ contactId: bob })
    await pipeline.identify(keyed(ANN, V, NOW + 3))
    expect(await pipeline.browser(did('live', NOW + 3))).toMatchObject({ contactId: ann })
  })

  it('answers subscriptions only where a keyed call has named this visitor for the contact', async () => {
    const { contactId } = await pipeline.identify(paged(ANN, V))
    const choose: RequestContext = {
      kind: 'subscribe',
      businessId,
      receivedAt: NOW,
      contactId,
      channels: { email: true },
      method: 'form',
    }
    await pipeline.apply(choose)
    expect((await pipeline.identify(paged(ANN, V))).subscriptions.email).toBe(true)
    await pipeline.track(bought(ANN))
    expect((await pipeline.identify(paged(ANN, V))).subscriptions.email).toBe(false)
    await pipeline.track(bought(ANN, V))
    expect((await pipeline.identify(paged(ANN, V))).subscriptions.email).toBe(true)
    expect((await pipeline.identify(paged(ANN, W))).subscriptions.email).toBe(false)
  })

  it('starts no campaign, reaches no goal, moves no stage, counts no order and reports no conversion', async () => {
    const campaigns = [
      { name: 'theirs', trigger: { event: 'demo' }, goalEvent: null },
      { name: 'ours', trigger: { event: 'signup' }, goalEvent: 'lead_submitted' },
    ]
    for (const campaign of campaigns) {
      const made = await draftCampaign(stack.sql, businessId, { ...campaign, canEnterAgain: true })
      await publishDraft(stack.sql, businessId, made)
    }
    await addTo(stack.sql, businessId, 'webhook', { settings: { all: true } })
    pipeline.deps.configs.clear()
    const { contactId: ann } = await pipeline.track(bought(ANN))
    const state = async () => ({
      ...(await contactOf(ann)),
      delivered: (await readDeliveries(stack.sql, businessId)).length,
    })
    const before = await state()
    await pipeline.apply(isAnn(), did('demo'), did('lead_submitted'), did('purchase'), did('pricing_page_viewed'))
    expect(await state()).toEqual(before)
    await pipeline.identify(keyed(ANN))
    const after = await state()
    expect(after).toMatchObject({ orderCount: 0, delivered: 0, stage: 'Decision' })
    expect(after.enrolments).toMatchObject([{ state: 'converted' }])
    // From here on, everything that the browser does is live, except for orders.
    await pipeline.apply(did('demo', NOW + 1), did('purchase', NOW + 1))
    expect(await state()).toMatchObject({ orderCount: 0, enrolments: [{}, { state: 'active' }] })
    const lines = await stack.sql<{ events: string }[]>`
      select events from outbox where ${businessId} = any (business_ids) and events <> ''`
    const rows = lines.flatMap(({ events }) =>
      events.split('\n').map((line) => JSON.parse(line) as { event: string; is_order: number }),
    )
    expect(rows.filter(({ event }) => event === 'purchase')).toMatchObject([{ is_order: 0 }, { is_order: 0 }])
  })
})

describe('links made before a keyed call first uses the contact', () => {
  it('wait from then on, but for the visitor that this call names; what they brought stays', async () => {
    for (const visitor of [V, W]) {
      await pipeline.browser(browser(businessId, browserFact(`on ${visitor[0]}`, visitor, { first: clicked(visitor) })))
      await pipeline.identify(isAnn(visitor))
    }
    const { contactId: ann } = await pipeline.track(bought(ANN, W))
    expect([await eventsOf(ann), (await contactOf(ann)).visitorIds, await clicksOf(ann)]).toEqual([
      ['on a', 'on b', 'signup'],
      [W],
      [W],
    ])
    expect(await pipeline.browser(did('later'))).toMatchObject({ contactId: null })
    expect(await pipeline.browser(browser(businessId, browserFact('later on w', W)))).toMatchObject({ contactId: ann })
    expect(await pipeline.identify(isAnn())).toMatchObject({ linkedVisitor: false })
    expect(await pipeline.identify(keyed(ANN))).toMatchObject({ linkedVisitor: true })
    expect([await eventsOf(ann), (await contactOf(ann)).visitorIds]).toEqual([
      ['later', 'later on w', 'on a', 'on b', 'signup'],
      [V, W],
    ])
  })

  it('wait too when that call is an import', async () => {
    const { contactId: ann } = await pipeline.identify(paged(ANN, V))
    expect((await contactOf(ann)).visitorIds).toEqual([V])
    await pipeline.batch(batch(businessId, [eventFact('signup', ANN)]))
    expect((await contactOf(ann)).visitorIds).toEqual([])
    expect(await pipeline.browser(did('later'))).toMatchObject({ contactId: null })
  })

  it('wait on when the contact is merged, in the same micro-batch too', async () => {
    for (const together of [false, true]) {
      await takeBusiness()
      await setPages('confirmed')
      const phone = '972541234567'
      const calls = [
        paged(BOB, V),
        did('brought', NOW, { first: clicked('c') }),
        bought(BOB),
        track(businessId, eventFact('signup', { ...BOB, phone })),
        did('kept'),
        bought(ANN),
        track(businessId, eventFact('signup', { ...ANN, phone })),
        did('kept too'),
      ]
      if (together) await pipeline.apply(...calls)
      else for (const call of calls) await pipeline.apply(call)
      const { contactId } = await pipeline.track(bought(ANN))
      expect([await eventsOf(contactId), await waiting()]).toEqual([
        ['brought', 'signup'],
        ['kept', 'kept too'],
      ])
      expect([(await contactOf(contactId)).visitorIds, await clicksOf(contactId)]).toEqual([[], []])
      await pipeline.identify(keyed(BOB))
      expect([(await contactOf(contactId)).visitorIds, await clicksOf(contactId), await waiting()]).toEqual([
        [V],
        ['c'],
        [],
      ])
    }
  })

  it('are not missed by an identification that is saved at the same time', async () => {
    const rivals = await Promise.all(Array.from({ length: 4 }, () => openPipeline(stack.sql)))
    for (let round = 0; round < 8; round += 1) {
      await takeBusiness()
      await setPages('confirmed')
      for (const rival of rivals) rival.deps.configs.clear()
      await pipeline.identify(paged(ANN, 'c'.repeat(32)))
      const [used] = await Promise.all([
        pipeline.track(bought(ANN)),
        ...rivals.map((rival, n) => rival.identify(paged(ANN, `${n}`.repeat(32)))),
      ])
      expect((await contactOf(used.contactId)).visitorIds).toEqual([])
      expect(
        await stack.sql`select from visitor_links where business_id = ${businessId} and contact_id is not null`,
      ).toEqual([])
    }
  })
})

it('an identification that was decided before links began to wait does not hide that they do', async () => {
  await pipeline.identify(paged(ANN, V, NOW - 90))
  await pipeline.browser(did('of ann', NOW - 80_000, { first: clicked('c', NOW - 80_000) }))
  await pipeline.identify(paged(BOB, V, NOW - 60))
  const rival = await openPipeline(stack.sql)
  let isFirst = true
  const { sql } = rival.deps
  rival.deps.sql = Object.assign(
    async (strings: TemplateStringsArray, ...values: never[]) => {
      if (isFirst && strings.join('').includes('save_changes(')) {
        isFirst = false
        await pipeline.track(bought(ANN))
      }
      return await sql(strings, ...values)
    },
    { unsafe: sql.unsafe },
  ) as unknown as typeof sql
  await rival.identify(paged(CID, V, NOW - 30))
  expect(isFirst).toBe(false)
  const waitingLinks = async () =>
    await stack.sql`
    select from visitor_links where business_id = ${businessId} and waits_for is not null`
  expect(await waitingLinks()).toHaveLength(1)
  await pipeline.identify(keyed(ANN))
  expect(await waitingLinks()).toEqual([])
})

it('a visitor whose link waits is not forgotten', async () => {
  await pipeline.track(bought(ANN))
  await pipeline.browser(did('e', NOW - 9))
  await pipeline.identify(isAnn())
  await forgetVisitors(stack.sql, NOW + 1)
  expect(await waiting()).toEqual([])
  await pipeline.identify(keyed(ANN))
  expect(
    await stack.sql`select from visitor_links where business_id = ${businessId} and waits_for is not null`,
  ).toEqual([])
})

it('a contact has at most 1,000 browsers that wait, which take no room from those that it lists', async () => {
  const { contactId: ann } = await pipeline.track(bought(ANN))
  await stack.sql`
    insert into contact_visitors (business_id, contact_id, visitor_id, linked_at, waits)
    select ${businessId}, ${ann}, 'w' || n, ${NOW}, true from generate_series(1, 999) n`
  await stack.sql`update contacts set version = version + 1 where business_id = ${businessId} and id = ${ann}`
  const said = await pipeline.identify(isAnn(V))
  expect([said.linkedVisitor, said.warnings]).toEqual([false, []])
  const past = await pipeline.identify(isAnn(W))
  expect([past.linkedVisitor, past.warnings.length]).toEqual([false, 1])
  await pipeline.browser(browser(businessId, browserFact('on w', W)))
  expect(await pipeline.identify(keyed(ANN, W))).toMatchObject({ linkedVisitor: true, warnings: [] })
  expect([await eventsOf(ann), (await contactOf(ann)).visitorIds]).toEqual([['on w', 'signup'], [W]])
})

describe('an erasure', () => {
  const erase = (contactId: string) => pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId })

  it('takes waiting links, and what waits in them', async () => {
    const { contactId: ann } = await pipeline.track(bought(ANN))
    await pipeline.browser(did('before', NOW - 9, { first: clicked('c') }))
    await pipeline.identify(isAnn())
    await pipeline.browser(did('after'))
    await erase(ann)
    const tables = ['visitors', 'visitor_links', 'visitor_events', 'visitor_touches', 'contact_visitors']
    for (const table of tables)
      expect([table, await stack.sql`select from ${stack.sql(table)} where business_id = ${businessId}`]).toEqual([
        table,
        [],
      ])
    expect(await pipeline.browser(did('late'))).toMatchObject({ contactId: null })
    expect(await waiting()).toEqual([])
  })

  it('leaves the data of other people in the same browser', async () => {
    const { contactId: ann } = await pipeline.track(bought(ANN, null, NOW - 90_000))
    await pipeline.identify(paged(CID, V, NOW - 80_000))
    await pipeline.identify(paged(ANN, V, NOW - 60_000))
    await pipeline.browser(did('of ann', NOW - 50_000))
    const { contactId: bob } = await pipeline.track(bought(BOB, null, NOW - 50_000))
    await pipeline.identify(paged(BOB, V, NOW - 40_000))
    await pipeline.browser(did('of bob', NOW - 30_000))
    await erase(ann)
    expect(await waiting()).toEqual(['of bob'])
    await pipeline.identify(keyed(BOB))
    expect([await eventsOf(bob), await waiting()]).toEqual([['of bob', 'signup'], []])
  })
})

describe('the setting', () => {
  it('takes effect from its change on, in both directions', async () => {
    await setPages('open')
    const { contactId: ann } = await pipeline.track(bought(ANN))
    expect(await pipeline.identify(isAnn(V))).toMatchObject({ linkedVisitor: true })
    await setPages('confirmed')
    // Links that are in force stay in force.
    expect(await pipeline.browser(did('e'))).toMatchObject({ contactId: ann })
    expect(await pipeline.identify(isAnn(W))).toMatchObject({ linkedVisitor: false })
    await pipeline.browser(browser(businessId, browserFact('on w', W)))
    await setPages('open')
    // A waiting link waits until a call repeats it.
    expect(await eventsOf(ann)).toEqual(['e', 'signup'])
    expect(await pipeline.identify(isAnn(W))).toMatchObject({ linkedVisitor: true })
    expect([await eventsOf(ann), (await contactOf(ann)).visitorIds]).toEqual([
      ['e', 'on w', 'signup'],
      [V, W],
    ])
  })

  it('remembers which visitors keyed calls have named, whatever its value was at that time', async () => {
    await setPages('open')
    await pipeline.identify(isAnn(V))
    const { contactId: ann } = await pipeline.identify(keyed(ANN, V))
    await setPages('confirmed')
    await pipeline.identify(paged(BOB, V, NOW + 1))
    await pipeline.identify(paged(ANN, V, NOW + 2))
    expect(await pipeline.browser(did('e', NOW + 3))).toMatchObject({ contactId: ann })
  })
})

it('a stranger changes nothing of a person whom keyed calls have used, whatever is said in whatever order', async () => {
  const page = fc.oneof(
    fc.constantFrom(V, W).map((visitor) => () => paged(ANN, visitor)),
    fc.constantFrom(V, W).map((visitor) => () => paged(CID, visitor)),
    fc.nat(60).map((minutes) => (): RequestContext => ({
      ...identify(businessId, identifyFact(ANN, { visitorId: V, ageMs: minutes * 60_000 }), false),
    })),
    fc
      .record({
        event: fc.constantFrom('demo', 'purchase', 'pricing_page_viewed'),
        visitor: fc.constantFrom(V, W),
        ago: fc.nat(60),
      })
      .map(({ event, visitor, ago }) => () => {
        const occurredAt = NOW - ago * 60_000
        return browser(businessId, browserFact(event, visitor, { occurredAt, first: clicked('his', occurredAt) }))
      }),
  )
  const server = fc.constantFrom(
    () => bought(ANN),
    () => keyed(ANN, null),
    () => keyed(BOB, null),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(page, page, server), { maxLength: 16 }),
      fc.integer({ min: 1, max: 6 }),
      async (makes, cut) => {
        const outcome = async (calls: (() => RequestContext)[]) => {
          await takeBusiness()
          await setPages('confirmed')
          const { contactId } = await pipeline.track(bought(ANN))
          for (let at = 0; at < calls.length; at += cut)
            await pipeline.apply(...calls.slice(at, at + cut).map((make) => make()))
          expect(await clicksOf(contactId)).toEqual([])
          const { visitorIds, ...ann } = (await readPeople(stack.sql, businessId)).find(({ identities }) =>
            identities.includes(`email:${ANN.email}`),
          ) as never as { visitorIds: never }
          return [ann, (await contactOf(contactId)).visitorIds, visitorIds]
        }
        const servers = makes.filter((make) => make().kind === 'track' || (make() as { keyed?: boolean }).keyed)
        expect(await outcome(makes)).toEqual(await outcome(servers))
      },
    ),
    { numRuns: runs(10) },
  )
})
