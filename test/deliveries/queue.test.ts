/** Which deliveries the save that records an event queues, and for which destinations. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claimDeliveries } from '../../src/deliveries/claim-deliveries.ts'
import { findDestination, removeDestination, updateDestination } from '../../src/deliveries/destinations.ts'
import { NOW, type Pipeline, batch, eventFact, identify, identifyFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { ACTOR, addTo, addVisitor, readDeliveries } from './delivery-lab.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const ANN = { email: 'ann@x.io' }
const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
let annId: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
  annId = (await pipeline.identify(identify(businessId, identifyFact(ANN)))).contactId
})

const click = (kind: string, at = NOW - 1000) => ({ at, clickIds: { [kind]: `${kind}-value` } })
const annCameBy = (kind: string, at?: number) => addVisitor(stack.sql, businessId, annId, { latest: click(kind, at) })
const buy = (value = 5) => pipeline.track(track(businessId, eventFact('purchase', ANN, { value })))
const queued = () => readDeliveries(stack.sql, businessId)

describe('nothing is queued', () => {
  it('until a destination is set up; then from the next event on', async () => {
    await annCameBy('fbclid')
    await buy()
    const destination = await addTo(stack.sql, businessId, 'meta')
    expect(await queued()).toEqual([])
    await buy(7)
    expect(await queued()).toMatchObject([
      { destination_id: destination, amount: '7', currency: 'USD', state: 'queued' },
    ])
  })

  it('for one that is switched off or removed, as of the next event; what waited for the removed one is gone', async () => {
    await annCameBy('fbclid')
    const off = await addTo(stack.sql, businessId, 'meta')
    const removed = await addTo(stack.sql, businessId, 'webhook')
    await buy()
    await updateDestination(stack.sql, (await findDestination(stack.sql, off))!, { active: false })
    await removeDestination(stack.sql, ACTOR, (await findDestination(stack.sql, removed))!)
    await buy()
    expect(await queued()).toMatchObject([{ destination_id: off }])
  })

  it('for a batch, whatever its types', async () => {
    await annCameBy('fbclid')
    await addTo(stack.sql, businessId, 'meta')
    await addTo(stack.sql, businessId, 'webhook', { settings: { all: true } })
    await pipeline.batch(
      batch(
        businessId,
        ['purchase', 'lead_submitted', 'booking_confirmed'].map((name) => eventFact(name, ANN, { value: 5 })),
      ),
    )
    expect(await queued()).toEqual([])
  })

  it('for a repeat of a key', async () => {
    await addTo(stack.sql, businessId, 'webhook', { settings: { all: true } })
    const once = track(businessId, eventFact('purchase', ANN, { value: 5, idempotencyKey: 'order-1' }))
    await pipeline.apply(once, once)
    await pipeline.track(once)
    expect(await queued()).toHaveLength(1)
  })

  it('for money that a page claims, a purchase of less than nothing, or an event that is not a conversion', async () => {
    await addTo(stack.sql, businessId, 'webhook', { settings: { all: true } })
    const fromPage = (name: string) => track(businessId, eventFact(name, ANN), false)
    await pipeline.apply(fromPage('purchase'), fromPage('lead_submitted'))
    const negative = eventFact('purchase', ANN, {
      value: -5,
      meaning: { type: 'purchase', counted: '0', currency: 'USD', order: false },
    })
    await pipeline.apply(
      track(businessId, negative),
      track(businessId, eventFact('add_to_cart', ANN)),
      track(businessId, eventFact('hello', ANN)),
    )
    expect(await queued()).toMatchObject([{ type: 'lead', event: 'lead_submitted', amount: null, currency: null }])
  })
})

describe('a destination', () => {
  it('gets the types that it wants', async () => {
    await addTo(stack.sql, businessId, 'webhook', { types: ['lead', 'booking'], settings: { all: true } })
    await pipeline.apply(
      ...['purchase', 'lead_submitted', 'booking_confirmed'].map((name) => track(businessId, eventFact(name, ANN))),
    )
    expect((await queued()).map(({ type }) => type)).toEqual(['lead', 'booking'])
  })

  it.each([
    ['fbclid', ['meta', 'webhook']],
    ['gclid', ['google', 'webhook']],
    ['gbraid', ['google', 'webhook']],
    ['wbraid', ['google', 'webhook']],
    ['ttclid', ['webhook']],
  ])('is sent conversions of contacts that came by its own clicks: %s', async (kind, expected) => {
    const ids = {
      meta: await addTo(stack.sql, businessId, 'meta'),
      google: await addTo(stack.sql, businessId, 'google'),
      webhook: await addTo(stack.sql, businessId, 'webhook'),
    }
    await buy()
    expect(await queued()).toEqual([])
    await annCameBy(kind)
    await buy()
    const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]))
    expect((await queued()).map((row) => String(names.get(row.destination_id))).toSorted()).toEqual(expected)
  })

  it.each([
    ['ninety days', NOW - 90 * DAY, 1],
    ['a moment more', NOW - 90 * DAY - 1, 0],
    ['no time', NOW, 1],
    ['less than no time', NOW + 1, 0],
  ])('is sent conversions after clicks that are old by %s', async (_, at, many) => {
    await addTo(stack.sql, businessId, 'meta')
    await annCameBy('fbclid', at)
    await buy()
    expect(await queued()).toHaveLength(many)
  })

  it('is sent nothing for a click by another person in the same browser', async () => {
    await addTo(stack.sql, businessId, 'meta')
    const bob = await pipeline.identify(identify(businessId, identifyFact({ email: 'bob@x.io' })))
    const visitorId = await addVisitor(stack.sql, businessId, bob.contactId, {
      first: click('fbclid', NOW - 2000),
      latest: click('gclid', NOW - 100),
    })
    await addVisitor(stack.sql, businessId, annId, { visitorId, from: NOW - 1000 })
    await buy()
    expect(await queued()).toEqual([])
    await pipeline.track(track(businessId, eventFact('purchase', { email: 'bob@x.io' }, { value: 5 })))
    expect(await queued()).toMatchObject([{ contact_id: bob.contactId }])
  })

  it('is sent a conversion for a click between the first visit and the latest', async () => {
    await addTo(stack.sql, businessId, 'meta')
    const visitorId = await addVisitor(stack.sql, businessId, annId, {
      first: click('gclid', NOW - 3000),
      latest: click('fbclid', NOW - 2000),
    })
    await addVisitor(stack.sql, businessId, annId, { visitorId, from: 1, latest: click('msclkid', NOW - 1000) })
    await buy()
    expect(await queued()).toHaveLength(1)
  })

  it.each([
    [49, 1],
    [50, 0],
  ])('is sent conversions for clicks in the newest fifty browsers: with %i newer ones, %i', async (newer, many) => {
    await addTo(stack.sql, businessId, 'meta')
    await addVisitor(stack.sql, businessId, annId, { from: 1, latest: click('fbclid') })
    await stack.sql`
      insert into contact_visitors (business_id, contact_id, visitor_id, linked_at)
      select ${businessId}, ${annId}, 'newer-' || n, 1 + n from generate_series(1, ${newer}::int) n`
    await buy()
    expect(await queued()).toHaveLength(many)
  })

  it('is sent with each of many conversions the clicks before it', async () => {
    await addTo(stack.sql, businessId, 'webhook', { settings: { all: true } })
    const visitorId = await addVisitor(stack.sql, businessId, annId, { latest: click('fbclid', NOW - 3000) })
    await addVisitor(stack.sql, businessId, annId, { visitorId, from: 1, latest: click('gclid', NOW - 2000) })
    const later = { at: NOW - 1000, clickIds: { fbclid: 'later' } }
    await addVisitor(stack.sql, businessId, annId, { visitorId, from: 2, latest: later })
    const at = (occurredAt: number) => track(businessId, eventFact('lead_submitted', ANN, { occurredAt }))
    await pipeline.apply(...[NOW, NOW - 3001, NOW - 2000, NOW - 3000, NOW - 2000].map(at))
    const rows = await stack.sql<{ clicks: Record<string, { id: string }> }[]>`
      select clicks from deliveries where business_id = ${businessId} order by id`
    const ids = rows.map(({ clicks }) => [clicks['fbclid']?.id, clicks['gclid']?.id])
    const both = ['fbclid-value', 'gclid-value']
    expect(ids).toEqual([['later', 'gclid-value'], [undefined, undefined], both, ['fbclid-value', undefined], both])
  })

  it('that belongs to another business is sent nothing', async () => {
    const other = await createBusiness(stack.sql)
    await addTo(stack.sql, other.businessId, 'webhook', { settings: { all: true } })
    await annCameBy('fbclid')
    await buy()
    expect([...(await queued()), ...(await readDeliveries(stack.sql, other.businessId))]).toEqual([])
  })

  it('has an amount in steps of 0.000001, and none that is beyond what counts', async () => {
    await addTo(stack.sql, businessId, 'webhook', { settings: { all: true } })
    const lead = (value: number) =>
      track(
        businessId,
        eventFact('l', ANN, { value, meaning: { type: 'lead', counted: '0', currency: 'EUR', order: false } }),
      )
    await pipeline.apply(lead(1e-320), lead(1e15), lead(1.1e15), lead(-1), lead(2.5))
    expect((await queued()).map(({ amount }) => amount)).toEqual(['0', '1000000000000000', null, null, '2.5'])
  })
})

describe('what waits for a person', () => {
  it('keeps the clicks that its destination takes, as they were then: of each kind the newest', async () => {
    const meta = await addTo(stack.sql, businessId, 'meta')
    const all = await addTo(stack.sql, businessId, 'webhook', { settings: { all: true } })
    await buy()
    const both = { fbclid: 'F', gclid: 'G' }
    await addVisitor(stack.sql, businessId, annId, {
      first: { at: NOW - 3000, clickIds: { fbclid: 'older' } },
      latest: { at: NOW - 2000, clickIds: both },
    })
    await buy()
    await stack.sql`delete from visitor_links where business_id = ${businessId}`
    await stack.sql`delete from visitors where business_id = ${businessId}`
    const claimed = await claimDeliveries(stack.sql, { max: 1000, perDestination: 4, leaseMs: 30_000 })
    const mine = claimed.filter((one) => one.businessId === businessId)
    const clicksOf = (id: string) =>
      mine.filter(({ destination }) => destination.id === id).map((one) => one.conversion.clicks)
    const kept = { fbclid: { id: 'F', at: NOW - 2000 }, gclid: { id: 'G', at: NOW - 2000 } }
    expect(clicksOf(meta)).toEqual([{ fbclid: kept.fbclid }])
    expect(clicksOf(all)).toHaveLength(2)
    expect(clicksOf(all)).toEqual(expect.arrayContaining([{}, kept]))
  })

  it('goes to the survivor of a merge, also of one in the same micro-batch', async () => {
    await addTo(stack.sql, businessId, 'webhook', { settings: { all: true } })
    const phone = { phone: '972500000001' }
    await pipeline.track(track(businessId, eventFact('purchase', phone, { value: 1 })))
    await pipeline.apply(
      track(businessId, eventFact('purchase', phone, { value: 2 })),
      identify(businessId, identifyFact({ ...ANN, ...phone })),
    )
    expect((await queued()).map((row) => [row.contact_id, row.amount])).toEqual([
      [annId, '1'],
      [annId, '2'],
    ])
  })

  it('is deleted with an erasure, and that of others is not', async () => {
    await addTo(stack.sql, businessId, 'webhook', { settings: { all: true } })
    await buy()
    const bob = await pipeline.track(track(businessId, eventFact('purchase', { email: 'bob@x.io' }, { value: 9 })))
    await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId: annId })
    expect(await queued()).toMatchObject([{ contact_id: bob.contactId }])
  })
})
