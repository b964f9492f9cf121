/** The contents of answers about events and people, through the whole service. */
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { IdentifyData } from '../../src/front-door/routes/sdk/identify.ts'
import { BatchData } from '../../src/front-door/routes/sdk/track-batch.ts'
import { TrackData } from '../../src/front-door/routes/sdk/track.ts'
import { ContactData, ContactsData } from '../../src/front-door/routes/contacts/reply-schemas.ts'
import { containing } from '../rules/containing.ts'
import { openService } from '../support/service.ts'
import { createBusiness, type TestBusiness } from '../support/stack.ts'
import { type Speak, speakTo } from './http-client.ts'
import { anyText, dataOf } from './reply-shape.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(openService)
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { country: 'IL', currency: 'EUR' })
})

const ADA = { email: 'ada@example.com' }
const post = (path: string, json: unknown, key = tenant.secretKey) => speak('POST', path, { key, json })
const track = async (json: object) =>
  dataOf(TrackData, await post('/api/sdk/track', { event: 'e', identity: ADA, ...json }))
const batch = async (...events: unknown[]) => dataOf(BatchData, await post('/api/sdk/track/batch', { events }))
const identify = async (json: object) =>
  dataOf(IdentifyData, await post('/api/sdk/identify', { identity: ADA, ...json }))
const read = async (id: unknown) =>
  dataOf(ContactData, await speak('GET', `/api/contacts/${String(id)}`, { key: tenant.secretKey }))[
    'contact'
  ] as Record<string, unknown>

describe('track', () => {
  it('answers with the contact, the name as recorded, and what it means', async () => {
    const first = await track({ event: '  Signed up 🎉 ' })
    expect(first).toEqual({
      contactId: anyText,
      event: 'Signed up 🎉',
      isNew: true,
      deduped: false,
      interpreted: { type: 'none', countedRevenue: 0 },
    })
    expect(await track({})).toMatchObject({ contactId: first['contactId'], isNew: false })
  })

  it('finds a repeat by its key, and applies its tags and traits', async () => {
    const key = randomUUID()
    const first = await track({ value: 10, idempotencyKey: key })
    const again = await track({ value: 10, idempotencyKey: ` ${key} `, tags: ['late'], traits: { plan: 'pro' } })
    expect(again).toMatchObject({ deduped: true, isNew: false, interpreted: { type: 'purchase', countedRevenue: 0 } })
    expect(await read(first['contactId'])).toMatchObject({
      tags: ['late'],
      customFields: { plan: 'pro' },
      orderCount: 1,
      revenue: { total: 10, currency: 'EUR', byCurrency: { EUR: 10 } },
    })
  })

  it.each([
    [{ type: 'purchase', value: 5 }, 'purchase', 5],
    [{ type: 'purchase' }, 'purchase', 0],
    [{ type: 'refund', value: 5 }, 'refund', -5],
    [{ type: 'refund', value: -5 }, 'refund', -5],
    [{ type: 'booking', value: 5 }, 'booking', 0],
    [{ type: 'lead' }, 'lead', 0],
    [{ type: 'checkout_started', value: 5 }, 'checkout_started', 0],
    [{ type: 'fulfilled' }, 'fulfilled', 0],
    [{ type: 'cancelled', value: 5 }, 'cancelled', 0],
    [{ type: 'lead', event: 'purchase' }, 'lead', 0],
    [{ value: 5 }, 'purchase', 5],
    [{ value: -5 }, 'refund', -5],
    [{ value: 5, event: 'form_submitted' }, 'purchase', 5],
    [{ event: 'invoice_paid' }, 'purchase', 0],
    [{ event: 'trial_started' }, 'booking', 0],
    [{ event: 'sluice_form.submitted' }, 'lead', 0],
    [{ event: 'add_to_cart' }, 'checkout_started', 0],
    [{ event: 'order_delivered' }, 'fulfilled', 0],
    [{ event: 'subscription_canceled' }, 'cancelled', 0],
    [{ event: 'Purchase' }, 'none', 0],
  ])('reads %j as %s counting %d, silently', async (sent, type, countedRevenue) => {
    const data = await track(sent)
    expect(data['interpreted']).toEqual({ type, countedRevenue })
    expect(data).not.toHaveProperty('warnings')
  })

  it('never counts or drops an amount silently', async () => {
    for (const sent of [{ value: 0 }, { type: 'purchase', value: -1 }, { value: 1e16 }, { value: 0.123_456_78 }]) {
      expect((await track(sent))['warnings']).toHaveLength(1)
    }
  })

  it.each([{ value: 0 }, { type: 'purchase', value: -1 }, { value: 1e16 }, { value: 0.123_456_78 }])(
    'says nothing of the amount of a repeat: %j',
    async (sent) => {
      const repeated = { ...sent, idempotencyKey: randomUUID(), traits: { Seats: 1 } }
      const skipped = containing('traits.Seats')
      expect((await track(repeated))['warnings']).toEqual([skipped, containing('value was')])
      const { deduped, warnings } = await track(repeated)
      expect([deduped, warnings]).toEqual([true, [skipped]])
    },
  )

  it('joins the warnings of the front door and of the worker, those of the front door first', async () => {
    await track({ traits: { seats: 5 } })
    const identity = { ...ADA, phone: 'N/A' }
    const { warnings } = await track({ identity, traits: { Seats: 1, seats: 'many' } })
    expect(warnings).toEqual([containing('identity.phone'), containing('traits.Seats'), containing('seats')])
  })
})

describe('track/batch', () => {
  it('records what is good and reports what is not, in order of the items', async () => {
    const key = randomUUID()
    const data = await batch(
      { event: 'a', identity: ADA, idempotencyKey: key },
      { event: '', identity: ADA },
      { event: 'a', identity: ADA, idempotencyKey: key },
      { event: 'b', identity: { ...ADA, phone: 'none' }, value: 0 },
      { event: 'a', identity: ADA, occurredAt: Date.now() + 600_000 },
    )
    expect(data).toMatchObject({ received: 5, recorded: 2, deduped: 1, failed: 2 })
    expect(data['failures']).toEqual([
      { index: 1, error: containing('event') },
      { index: 4, error: containing('occurredAt') },
    ])
    expect(data['warnings']).toEqual([containing('item 3: identity.phone'), containing('item 3: value')])
  })

  it.each([{ value: 0 }, { type: 'purchase', value: -1 }, { value: 1e16 }, { value: 0.123_456_78 }])(
    'says nothing of the amount of a repeat: %j',
    async (sent) => {
      const repeated = { event: 'e', identity: ADA, ...sent, idempotencyKey: randomUUID() }
      const data = await batch(repeated, repeated)
      expect(data).toMatchObject({ recorded: 1, deduped: 1, warnings: [containing('item 0: value was')] })
      expect(await batch(repeated)).not.toHaveProperty('warnings')
    },
  )

  it('has failures even when there is none, and no warnings then', async () => {
    expect(await batch({ event: 'a', identity: ADA })).toEqual({
      received: 1,
      recorded: 1,
      deduped: 0,
      failed: 0,
      failures: [],
    })
  })

  it('gives fifty warnings at most', async () => {
    const items = Array.from({ length: 60 }, () => ({ event: 'a', identity: ADA, value: 0 }))
    expect((await batch(...items))['warnings']).toHaveLength(50)
  })

  it('takes hostile text without a fault', async () => {
    const hostile = ['__proto__', 'constructor', "'; drop table contacts; --", 'a\u2028b', '{{x}}', '%00', 'a\tb']
    const events = hostile.map((event) => ({
      event,
      identity: { platformCustomerId: event },
      tags: [event],
      traits: { note: event },
      properties: JSON.parse(`{"__proto__":${JSON.stringify(event)},"a":"\\u0000\\ud800"}`) as object,
      idempotencyKey: event,
    }))
    expect(await batch(...events)).toMatchObject({ recorded: hostile.length, failed: 0 })
    for (const platformCustomerId of hostile) {
      const query = new URLSearchParams({ platformCustomerId })
      const found = dataOf(
        ContactsData,
        await speak('GET', `/api/contacts?${query.toString()}`, { key: tenant.secretKey }),
      )
      expect(found['contacts']).toMatchObject([
        { tags: [platformCustomerId.trim()], customFields: { note: platformCustomerId }, events: [{ count: 1 }] },
      ])
    }
  })
})

describe('identify', () => {
  it('makes a contact, fills its gaps, and counts no event', async () => {
    const first = await identify({ profile: { name: 'Ada King Lovelace', city: 'London' }, traits: { plan: 'pro' } })
    expect(first).toEqual({
      contactId: anyText,
      isNew: true,
      linkedVisitor: false,
      subscriptions: { email: false, sms: false, whatsapp: false, push: false },
    })
    const second = await identify({ profile: { firstName: 'Augusta', country: 'GB', timezone: 'Nowhere/Else' } })
    expect(second).toMatchObject({ isNew: false, warnings: [containing('timezone')] })
    expect(await read(first['contactId'])).toMatchObject({
      firstName: 'Ada',
      lastName: 'King Lovelace',
      city: 'London',
      country: 'GB',
      timezone: null,
      customFields: { plan: 'pro' },
      events: [],
    })
  })

  it('ignores traits, tags and revenue of a caller without a secret key, and says so', async () => {
    const sent = { traits: { plan: 'pro' }, tags: ['vip'], value: 5 }
    for (const [key, named] of [
      [tenant.publishableKey, {}],
      [undefined, { businessId: tenant.businessId }],
    ] as const) {
      const json = { identity: { email: `${randomUUID()}@x.io` }, ...sent, ...named }
      const data = dataOf(IdentifyData, await speak('POST', '/api/sdk/identify', { key, json }))
      expect(data['warnings']).toEqual([containing('traits were'), containing('tags were'), containing('value was')])
      const nothing = { customFields: {}, tags: [], revenue: { byCurrency: {} } }
      expect(await read(data['contactId'])).toMatchObject(nothing)
    }
  })

  it('says nothing of what is empty or of another shape, nor to a caller with a secret key', async () => {
    const unkeyed = async (sent: object) => {
      const json = { identity: { email: `${randomUUID()}@x.io` }, businessId: tenant.businessId, ...sent }
      return (await speak('POST', '/api/sdk/identify', { json })).body.data
    }
    for (const sent of [
      { traits: {}, tags: [], value: null },
      { traits: null, tags: 'vip' },
    ])
      expect(await unkeyed(sent)).not.toHaveProperty('warnings')
    expect(await unkeyed({ value: 0 })).toMatchObject({ warnings: ['value was ignored: it needs a secret key'] })
    expect(await identify({ tags: ['vip'], value: 5 })).not.toHaveProperty('warnings')
  })

  it('has traits since when it says, so that an older one replaces nothing newer', async () => {
    const at = Date.now() - 60_000
    const { contactId } = await track({ occurredAt: at, traits: { plan: 'pro' } })
    await identify({ occurredAt: at - 1, traits: { plan: 'free' } })
    expect(await read(contactId)).toMatchObject({ customFields: { plan: 'pro' } })
    await identify({ occurredAt: new Date(at + 1).toISOString(), traits: { plan: 'free' } })
    expect(await read(contactId)).toMatchObject({ customFields: { plan: 'free' } })
    await identify({ traits: { plan: 'team' } })
    expect(await read(contactId)).toMatchObject({ customFields: { plan: 'team' } })
    for (const [occurredAt, code] of [
      [Date.now() + 400_000, 'invalid_occurred_at'],
      [true, 'invalid_request'],
    ]) {
      const { status, body } = await post('/api/sdk/identify', { identity: ADA, occurredAt })
      expect([status, body.error.code]).toEqual([400, code])
    }
  })

  it('links a browser to a person once', async () => {
    const visitorId = randomUUID()
    expect(await identify({ visitorId })).toMatchObject({ linkedVisitor: true })
    expect(await identify({ visitorId })).toMatchObject({ linkedVisitor: false })
  })
})
