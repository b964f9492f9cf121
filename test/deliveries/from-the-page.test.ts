/** A person who came through an ad, from the page that saw the click to the queued conversion. */
import { beforeEach, expect, it } from 'vitest'
import { claimDeliveries } from '../../src/deliveries/claim-deliveries.ts'
import { NOW, browser, browserFact, eventFact, identify, identifyFact, track } from '../support/facts.ts'
import { businessId, pipeline, stack, useFreshBusiness } from '../support/fresh-business.ts'
import { addTo, readDeliveries } from './delivery-lab.ts'

const ANN = { email: 'ann@x.io' }
const VISITOR = 'ab'.repeat(16)
const LEAD = { meaning: { type: 'lead', counted: '0', currency: null, order: false } } as const
useFreshBusiness()
beforeEach(async () => {
  await addTo(stack.sql, businessId, 'google')
  await addTo(stack.sql, businessId, 'meta')
})

const latest = { at: NOW - 1000, url: 'https://shop.example/?gclid=G', clickIds: { gclid: 'G' } }
const lead = () => browser(businessId, browserFact('form_submitted', VISITOR, { ...LEAD, occurredAt: NOW, latest }))
const known = () => identify(businessId, identifyFact(ANN, { visitorId: VISITOR }))
const types = async () => (await readDeliveries(stack.sql, businessId)).map(({ type }) => type)

it('a lead of a page, and a purchase of a server, of a person whom the page has identified; also all at once', async () => {
  await pipeline.apply(known(), lead(), track(businessId, eventFact('purchase', ANN, { value: 5 })))
  expect(await types()).toEqual(['lead', 'purchase'])
  await pipeline.apply(track(businessId, eventFact('purchase', ANN, { value: 6 })))
  expect(await types()).toEqual(['lead', 'purchase', 'purchase'])
})

it.each([
  ['one after the other', async () => [await pipeline.apply(lead()), await pipeline.apply(known())]],
  ['in one micro-batch', () => pipeline.apply(lead(), known())],
])('no conversion for what a visitor did before they were identified, but their click counts, %s', async (_, come) => {
  await come()
  expect(await types()).toEqual([])
  await pipeline.apply(track(businessId, eventFact('purchase', ANN, { value: 5 })))
  expect(await types()).toEqual(['purchase'])
})

it('the click stays with the first person when another one uses the browser', async () => {
  await pipeline.apply(lead())
  await pipeline.apply(known())
  await pipeline.apply(identify(businessId, identifyFact({ email: 'bob@x.io' }, { visitorId: VISITOR })))
  await pipeline.apply(track(businessId, eventFact('purchase', { email: 'bob@x.io' }, { value: 5 })))
  expect(await types()).toEqual([])
})

it('holds no identity that only a page has sent; a server proves it by sending it', async () => {
  const identifiers = async () => {
    const claimed = await claimDeliveries(stack.sql, { max: 99, perDestination: 9, leaseMs: 0 })
    const { emails, phones, customerId } = claimed.find((one) => one.businessId === businessId)!.conversion
    return { emails, phones, customerId }
  }
  const attack = { email: 'ann@x.io', phone: '972500000666', phoneRead: true, platformCustomerId: 'ATT' }
  await pipeline.apply(identify(businessId, identifyFact(attack, { visitorId: VISITOR }), false), lead())
  expect(await identifiers()).toEqual({ emails: [], phones: [], customerId: null })
  await pipeline.apply(track(businessId, eventFact('e', ANN)))
  expect(await identifiers()).toEqual({ emails: ['ann@x.io'], phones: [], customerId: null })
  await pipeline.apply(track(businessId, eventFact('e', { ...ANN, phone: '972500000001', phoneRead: true })))
  expect(await identifiers()).toEqual({ emails: ['ann@x.io'], phones: ['972500000001'], customerId: null })
})
