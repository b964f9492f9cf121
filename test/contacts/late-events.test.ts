/** What a browser tells late belongs to whoever used it then, and is past. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createCampaign } from '../../src/campaigns/create-campaign.ts'
import { publishCampaign } from '../../src/campaigns/publish-campaign.ts'
import { addTo, readDeliveries } from '../deliveries/delivery-lab.ts'
import { NOW, type Pipeline, browser, browserFact, identify, identifyFact, openPipeline } from '../support/facts.ts'
import { readPeople } from '../support/read-people.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'

const MINUTE = 60_000
const V = 'a'.repeat(32)
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

const did = (event: string, at: number) => browser(businessId, browserFact(event, V, { occurredAt: at }), NOW)
const isKnown = (name: string, receivedAt: number, ageMs = 0) => ({
  ...identify(businessId, identifyFact({ email: `${name}@x.io` }, { visitorId: V, ageMs }), false),
  receivedAt,
})
const eventsOf = async () => (await readPeople(stack.sql, businessId)).map(({ events }) => Object.keys(events))

it('is the first person’s when it happened before the second was identified, but for what the network trembles', async () => {
  const { contactId: ann } = await pipeline.identify(isKnown('ann', NOW - 60 * MINUTE))
  const { contactId: bob } = await pipeline.identify(isKnown('bob', NOW - 30 * MINUTE))
  const { contactId: cid } = await pipeline.identify(isKnown('cid', NOW - 10 * MINUTE))
  const minutes = [-60, -31, -29, -11, -10, 0]
  const answers = await pipeline.apply(...minutes.map((minute) => did(`at ${minute}`, NOW + minute * MINUTE)))
  expect(answers).toMatchObject([ann, ann, bob, bob, cid, cid].map((contactId) => ({ contactId })))
  const edge = NOW - 10 * MINUTE - 5000
  expect(await pipeline.apply(did('a', edge - 1), did('b', edge))).toMatchObject([
    { contactId: bob },
    { contactId: cid },
  ])
})

it('in one micro-batch with the identifications too, and after a merge', async () => {
  const { contactId: ann } = await pipeline.identify(isKnown('ann', NOW - 60 * MINUTE))
  const answers = await pipeline.apply(
    did('x', NOW - 31 * MINUTE),
    isKnown('bob', NOW - 30 * MINUTE),
    did('late', NOW - 31 * MINUTE),
    did('live', NOW),
    isKnown('ann', NOW),
    did('late', NOW - MINUTE),
  )
  const bob = (answers[1] as { contactId: string }).contactId
  expect([0, 2, 3, 5].map((n) => (answers[n] as { contactId: string }).contactId)).toEqual([ann, ann, bob, bob])
  const [annSent, bobSent] = [{ email: 'ann@x.io' }, { email: 'bob@x.io' }]
  const phone = '972541234567'
  for (const identity of [annSent, bobSent, { ...annSent, phone }, { ...bobSent, phone }])
    await pipeline.identify(identify(businessId, identifyFact(identity)))
  expect(await pipeline.browser(did('later', NOW - MINUTE))).toMatchObject({ contactId: ann })
  expect(await eventsOf()).toEqual([['late', 'later', 'live', 'x']])
})

it('starts no campaign and is told to no platform; what is live does both', async () => {
  const { campaignId } = await createCampaign(stack.sql, businessId, {
    name: 'c',
    triggerEvent: 'lead_submitted',
    canEnterAgain: true,
    goalEvent: null,
  })
  await publishCampaign(stack.sql, businessId, campaignId)
  await addTo(stack.sql, businessId, 'webhook', { settings: { all: true } })
  pipeline.deps.configs.clear()
  await pipeline.identify(isKnown('ann', NOW - 60 * MINUTE))
  const { contactId: bob } = await pipeline.identify(isKnown('bob', NOW - 30 * MINUTE))
  await pipeline.browser(did('lead_submitted', NOW - 40 * MINUTE))
  await pipeline.browser(did('lead_submitted', NOW - 20 * MINUTE))
  expect(await eventsOf()).toEqual([['lead_submitted'], ['lead_submitted']])
  const enrolled = await stack.sql`select contact_id from enrolments where business_id = ${businessId}`
  expect(enrolled).toEqual([{ contact_id: bob }])
  expect(await readDeliveries(stack.sql, businessId)).toMatchObject([{ contact_id: bob }])
})

it('is the second person’s when their identification waited offline with it', async () => {
  await pipeline.identify(isKnown('ann', NOW - 60 * MINUTE))
  const { contactId: bob } = await pipeline.identify(isKnown('bob', NOW, 30 * MINUTE))
  expect(await pipeline.browser(did('after', NOW - 30 * MINUTE + 1))).toMatchObject({ contactId: bob })
  const links = await stack.sql`
    select from_at from visitor_links where business_id = ${businessId} order by from_at`
  expect(links).toEqual([{ from_at: 0 }, { from_at: NOW - 30 * MINUTE }])
})
