/** An event that a browser reports late belongs to the person who used it then, and counts as past. */
import * as fc from 'fast-check'
import { uuidv7 } from 'uuidv7'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { draftCampaign, publishDraft } from '../support/campaigns.ts'
import { addTo, readDeliveries } from '../deliveries/delivery-lab.ts'
import { NOW, type Pipeline, browser, browserFact, identify, identifyFact, openPipeline } from '../support/facts.ts'
import { readPeople } from '../support/read-people.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { runs } from '../support/runs.ts'
import { useOpened } from '../support/use-opened.ts'

const MINUTE = 60_000
const V = 'a'.repeat(32)
const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
})

const did = (event: string, at: number) => browser(businessId, browserFact(event, V, { occurredAt: at }), NOW)
const isKnown = (name: string, receivedAt: number, ageMs = 0) => ({
  ...identify(businessId, identifyFact({ email: `${name}@x.io` }, { visitorId: V, ageMs }), false),
  receivedAt,
})
const eventsOf = async () => (await readPeople(stack.sql, businessId)).map(({ events }) => Object.keys(events))

it('belongs to the first person when it happened before the second was identified, but for 5 s of network delay', async () => {
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

it('starts no campaign and is sent to no platform; a live event does both', async () => {
  const campaignId = await draftCampaign(stack.sql, businessId, {
    name: 'c',
    trigger: { event: 'lead_submitted' },
    canEnterAgain: true,
    goalEvent: null,
  })
  await publishDraft(stack.sql, businessId, campaignId)
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

it('belongs to the second person when their identification waited offline with it', async () => {
  await pipeline.identify(isKnown('ann', NOW - 60 * MINUTE))
  const { contactId: bob } = await pipeline.identify(isKnown('bob', NOW, 30 * MINUTE))
  expect(await pipeline.browser(did('after', NOW - 30 * MINUTE + 1))).toMatchObject({ contactId: bob })
  const links = await stack.sql`
    select from_at from visitor_links where business_id = ${businessId} order by from_at`
  expect(links).toEqual([{ from_at: 0 }, { from_at: NOW - 30 * MINUTE }])
})

describe('an identification that is reported late', () => {
  const linksOf = async (names: Record<string, string>) => {
    const rows = await stack.sql<{ from_at: number; contact_id: string | null }[]>`
      select from_at, contact_id from visitor_links where business_id = ${businessId} order by from_at`
    const nameOf = (id: string | null) => Object.keys(names).find((name) => names[name] === id) ?? null
    return rows.map(({ from_at, contact_id }) => [from_at === 0 ? 0 : (from_at - NOW) / MINUTE, nameOf(contact_id)])
  }
  const holderAt = async (minute: number) => {
    const { contactId } = await pipeline.browser(did('asked', NOW + minute * MINUTE))
    return contactId
  }

  it('does not take the browser from a later person, and has the time until then', async () => {
    const { contactId: ann } = await pipeline.identify(isKnown('ann', NOW - 120 * MINUTE))
    const { contactId: bob } = await pipeline.identify(isKnown('bob', NOW - 60 * MINUTE))
    const late = await pipeline.identify(isKnown('cid', NOW, 90 * MINUTE))
    expect(late.linkedVisitor).toBe(true)
    const cid = late.contactId
    expect(await linksOf({ ann, bob, cid })).toEqual([
      [0, 'ann'],
      [-90, 'cid'],
      [-60, 'bob'],
    ])
    expect([await holderAt(0), await holderAt(-61), await holderAt(-91)]).toEqual([bob, cid, ann])
    const again = await pipeline.identify(isKnown('cid', NOW, 90 * MINUTE))
    expect([again.linkedVisitor, (await linksOf({ ann, bob, cid })).length]).toEqual([false, 3])
  })

  it('from before the first person who is known leaves them what they have, and the browser', async () => {
    await pipeline.browser(did('before', NOW - 100 * MINUTE))
    const { contactId: ann } = await pipeline.identify(isKnown('ann', NOW - 60 * MINUTE))
    const { contactId: bob } = await pipeline.identify(isKnown('bob', NOW, 90 * MINUTE))
    const { contactId: cid } = await pipeline.identify(isKnown('cid', NOW, 120 * MINUTE))
    expect(await linksOf({ ann, bob, cid })).toEqual([
      [0, 'ann'],
      [-120, 'cid'],
      [-90, 'bob'],
      [-60, 'ann'],
    ])
    expect([await holderAt(0), await holderAt(-80), await holderAt(-100)]).toEqual([ann, bob, cid])
    expect((await eventsOf())[0]).toEqual(['asked', 'before'])
  })

  it('seconds before the other counts as after it: the order of arrival decides', async () => {
    await pipeline.identify(isKnown('ann', NOW))
    const { contactId: bob } = await pipeline.identify(isKnown('bob', NOW, 5000))
    expect(await holderAt(0)).toBe(bob)
    const { contactId: cid } = await pipeline.identify(isKnown('cid', NOW, 5001))
    expect([cid === bob, await holderAt(0)]).toEqual([false, bob])
  })

  it('and that is a dead letter sent again takes no browser either; one of now does', async () => {
    const { contactId: ann } = await pipeline.identify(isKnown('ann', NOW))
    const replayed = { ...isKnown('bob', NOW - 60 * MINUTE), replayOf: uuidv7() }
    const { contactId: bob } = await pipeline.identify(replayed)
    expect([await holderAt(0), await holderAt(-30)]).toEqual([ann, bob])
    // The order of arrival counts, although the clock of a front door is behind.
    await pipeline.identify(isKnown('bob', NOW - MINUTE))
    expect(await holderAt(0)).toBe(bob)
  })

  it('ends with the same holders in whatever order the reports arrive, and however they are cut', async () => {
    const minutes = [-90, -60, -30, 0]
    const names = ['ann', 'bob', 'cid', 'dan']
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(minutes, { minLength: 4 }),
        fc.integer({ min: 1, max: 4 }),
        async (order, cut) => {
          ;({ businessId } = await createBusiness(stack.sql))
          const calls = order.map((minute) =>
            isKnown(names[minutes.indexOf(minute)] ?? '', NOW + 1, 1 - minute * MINUTE),
          )
          for (let at = 0; at < calls.length; at += cut) await pipeline.apply(...calls.slice(at, at + cut))
          const asked = minutes.map((minute) =>
            did(`of ${names[minutes.indexOf(minute)]}`, NOW + minute * MINUTE + 6000),
          )
          await pipeline.apply(...asked.map((call) => ({ ...call, receivedAt: NOW + MINUTE })))
          expect(await eventsOf()).toEqual(names.map((name) => [`of ${name}`]))
        },
      ),
      { numRuns: runs(40) },
    )
  })
})

it('counts as past when it happened before the first person was identified and arrives later, as if it had come in time', async () => {
  const made = await draftCampaign(stack.sql, businessId, {
    name: 'c',
    trigger: { event: 'lead_submitted' },
    canEnterAgain: true,
    goalEvent: null,
  })
  await publishDraft(stack.sql, businessId, made)
  await addTo(stack.sql, businessId, 'webhook', { settings: { all: true } })
  pipeline.deps.configs.clear()
  const started = async () => [
    (await stack.sql`select from enrolments where business_id = ${businessId}`).length,
    (await readDeliveries(stack.sql, businessId)).length,
  ]
  const { contactId: ann } = await pipeline.identify(isKnown('ann', NOW - 30 * MINUTE))
  const edge = NOW - 30 * MINUTE - 5000
  expect(await pipeline.browser(did('lead_submitted', edge - 1))).toMatchObject({ contactId: ann })
  expect([await started(), await eventsOf()]).toEqual([[0, 0], [['lead_submitted']]])
  await pipeline.browser(did('pricing_page_viewed', edge - 1))
  expect(await readPeople(stack.sql, businessId)).toMatchObject([{ stage: 1 }])
  await pipeline.browser(did('lead_submitted', edge))
  expect(await started()).toEqual([1, 1])
  // The same in the micro-batch of the identification.
  ;({ businessId } = await createBusiness(stack.sql))
  const other = { name: 'c', trigger: { event: 'e' }, canEnterAgain: true, goalEvent: null }
  await publishDraft(stack.sql, businessId, await draftCampaign(stack.sql, businessId, other))
  await pipeline.apply(isKnown('ann', NOW - 30 * MINUTE), did('e', edge - 1))
  expect(await started()).toEqual([0, 0])
  await pipeline.apply(did('e', edge - 1), did('e', edge))
  expect(await started()).toEqual([1, 0])
})
