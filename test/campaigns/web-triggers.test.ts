/** Campaigns that are triggered by what a browser captures automatically, in the real stores. */
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { draftCampaign, publishDraft } from '../support/campaigns.ts'
import type { FiredTrigger } from '../../src/rules/campaigns/web-trigger-fact.ts'
import type { WebTrigger } from '../../src/rules/campaigns/web-trigger.ts'
import {
  NOW,
  type Pipeline,
  type RequestContext,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
import { runs } from '../support/runs.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const V = 'a'.repeat(32)
const ANN = { email: 'ann@x.io' }
const PRICES: WebTrigger = { web: 'page_view', where: [{ property: 'path', operator: 'equals', value: '/prices' }] }
const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
})

async function publish(trigger = PRICES, more: { canEnterAgain?: boolean; goalEvent?: string } = {}): Promise<string> {
  const drafted = { name: 'Prices', trigger, canEnterAgain: false, goalEvent: null, ...more }
  const campaignId = await draftCampaign(stack.sql, businessId, drafted)
  const published = await publishDraft(stack.sql, businessId, campaignId)
  expect(published).toMatchObject({ kind: 'published', campaign: { trigger } })
  return campaignId
}
const known = async (at = NOW - 60_000, identity: object = ANN): Promise<string> => {
  const fact = identifyFact(identity, { visitorId: V })
  return (await pipeline.identify({ ...identify(businessId, fact), receivedAt: at })).contactId
}
const seen = (campaignId: string, more: Partial<FiredTrigger> = {}, receivedAt = NOW): RequestContext => ({
  kind: 'web_trigger',
  businessId,
  receivedAt,
  fact: {
    visitorId: V,
    fired: [
      {
        campaignId,
        name: 'page_view',
        pageId: 'p1',
        occurredAt: NOW,
        page: { path: '/prices', host: 'x.io' },
        ...more,
      },
    ],
  },
})
const enrolments = () => stack.sql<{ contactId: string; state: string; at: number }[]>`
  select contact_id as "contactId", state, enrolled_at as at from enrolments where business_id = ${businessId}
  order by enrolled_at, id`
const keys = async () => (await stack.sql`select from idempotency_keys where business_id = ${businessId}`).count

describe('a page view', () => {
  it('enrols who is known in the browser, at its instant', async () => {
    const campaignId = await publish()
    const contactId = await known()
    await pipeline.apply(seen(campaignId, { occurredAt: NOW - 1000 }))
    expect(await enrolments()).toEqual([{ contactId, state: 'active', at: NOW - 1000 }])
    const [{ events }] = await stack.sql<[{ events: number }]>`
      select count(*)::int as events from event_statistics where business_id = ${businessId}`
    expect(events).toBe(0)
  })

  it('enrols nobody whose browser is not known, or is known later', async () => {
    const campaignId = await publish()
    await pipeline.apply(seen(campaignId))
    await known(NOW + 1)
    // Sent late or again: the person was not known when it happened.
    await pipeline.apply(seen(campaignId, {}, NOW + 2000))
    expect([await enrolments(), await keys()]).toEqual([[], 0])
    await pipeline.apply(seen(campaignId, { pageId: 'p2', occurredAt: NOW + 1 }, NOW + 2000))
    expect(await enrolments()).toHaveLength(1)
  })

  it('enrols nobody for whom another person was identified since', async () => {
    const campaignId = await publish()
    await known()
    await known(NOW, { email: 'bob@x.io' })
    await pipeline.apply(seen(campaignId, { occurredAt: NOW - 30_000 }))
    expect(await enrolments()).toEqual([])
  })

  it('in one micro-batch with the identification counts in the order of the stream', async () => {
    const campaignId = await publish()
    const identified = { ...identify(businessId, identifyFact(ANN, { visitorId: V })), receivedAt: NOW }
    await pipeline.apply(seen(campaignId, { occurredAt: NOW }), identified)
    expect(await enrolments()).toEqual([])
    await pipeline.apply(seen(campaignId, { pageId: 'p2', occurredAt: NOW + 1 }, NOW + 1))
    expect(await enrolments()).toHaveLength(1)
  })

  it.each<[string, Partial<FiredTrigger>]>([
    ['another path', { page: { path: '/', host: 'x.io' } }],
    ['another kind', { name: 'scroll_depth' }],
    ['another campaign', { campaignId: crypto.randomUUID() }],
  ])('does nothing with %s', async (_, more) => {
    const campaignId = await publish()
    await known()
    await pipeline.apply(seen(campaignId, more))
    expect([await enrolments(), await keys()]).toEqual([[], 0])
  })

  it('does nothing in a campaign that is paused, or that another trigger starts', async () => {
    const campaignId = await publish()
    await known()
    await stack.sql`update campaigns set status = 'paused' where id = ${campaignId}`
    await stack.sql`update businesses set config_version = config_version + 1 where id = ${businessId}`
    pipeline.deps.configs.clear()
    await pipeline.apply(seen(campaignId))
    const drafted = { name: 'c', trigger: { event: 'page_view' }, canEnterAgain: false, goalEvent: null }
    const other = await draftCampaign(stack.sql, businessId, drafted)
    await publishDraft(stack.sql, businessId, other)
    await pipeline.apply(seen(other))
    expect(await enrolments()).toEqual([])
  })

  it('does nothing more once the person was erased', async () => {
    const campaignId = await publish()
    const contactId = await known()
    await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId })
    await pipeline.apply(seen(campaignId, { occurredAt: NOW - 1 }))
    expect(await enrolments()).toEqual([])
  })

  it('is not a deliberate event of the same name, which enrols nobody', async () => {
    await publish({ web: 'page_view' })
    await known()
    await pipeline.apply(track(businessId, eventFact('page_view', ANN)))
    expect(await enrolments()).toEqual([])
  })

  it('enrols once, also where the campaign may be entered again, however often it is sent', async () => {
    const campaignId = await publish(PRICES, { canEnterAgain: true, goalEvent: 'done' })
    await known()
    await pipeline.apply(seen(campaignId), seen(campaignId))
    await pipeline.apply(track(businessId, eventFact('done', ANN, { occurredAt: NOW })))
    await pipeline.apply(seen(campaignId, {}, NOW + 5000))
    expect((await enrolments()).map(({ state }) => state)).toEqual(['converted'])
    await pipeline.apply(seen(campaignId, { pageId: 'p2', occurredAt: NOW + 1 }, NOW + 5000))
    expect((await enrolments()).map(({ state }) => state)).toEqual(['converted', 'active'])
  })
})

it('each page view enrols in each campaign at most once, in whatever batches it comes', async () => {
  const view = fc.record({ page: fc.nat(2), campaign: fc.nat(1) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(view, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      async (batches) => {
        ;({ businessId } = await createBusiness(stack.sql))
        const campaigns = [await publish(PRICES), await publish(PRICES)]
        await known()
        for (const views of batches)
          await pipeline.apply(...views.map(({ page, campaign }) => seen(campaigns[campaign]!, { pageId: `p${page}` })))
        const entered = new Set(batches.flat().map(({ campaign }) => campaign))
        expect(await enrolments()).toHaveLength(entered.size)
      },
    ),
    { numRuns: runs(20) },
  )
})
