/** Campaigns that only some events with the trigger's name start, in the real stores. */
import * as fc from 'fast-check'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { CampaignTrigger } from '../../src/campaigns/campaign.ts'
import { draftCampaign, publishDraft } from '../support/campaigns.ts'
import { readEventTrigger } from '../../src/rules/campaigns/read-event-trigger.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { happened, propertyCondition } from '../segments/event-world.ts'
import { type Happened, holds } from '../segments/naive-windows.ts'
import {
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
import { PATIENCE_MS } from '../support/at-load.ts'
import { runs } from '../support/runs.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const ANN = { email: 'ann@x.io' }
const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
})

async function publish(trigger: CampaignTrigger, canEnterAgain = false): Promise<string> {
  const drafted = { name: 'Buyers', trigger, canEnterAgain, goalEvent: 'left' }
  const campaignId = await draftCampaign(stack.sql, businessId, drafted)
  const published = await publishDraft(stack.sql, businessId, campaignId)
  expect(published).toMatchObject({ kind: 'published', campaign: { trigger } })
  return campaignId
}
const enrolled = async (): Promise<string[]> => {
  const rows = await stack.sql<{ id: string }[]>`
    select campaign_id || ' ' || contact_id as id from enrolments where business_id = ${businessId}
    order by (campaign_id || ' ' || contact_id) collate "C"`
  return rows.map(({ id }) => id)
}
const factOf = ({ properties, value, currency, type }: Happened, email: string) => ({
  ...eventFact('paid', { email }, { properties: properties === null ? null : JSON.stringify(properties) }),
  value,
  meaning: { type, counted: '0', currency, order: false },
})

it('enrols by exactly the events of which all conditions are true', { timeout: PATIENCE_MS }, async () => {
  const wheres = fc.array(fc.array(propertyCondition, { maxLength: 3 }), { minLength: 1, maxLength: 3 })
  const property = fc.asyncProperty(
    wheres,
    fc.array(happened, { minLength: 1, maxLength: 20 }),
    async (all, events) => {
      ;({ businessId } = await createBusiness(stack.sql))
      const campaigns: string[] = []
      for (const where of all) {
        const read = readEventTrigger('paid', { event: 'paid', where })
        if ('faults' in read) throw new Error(JSON.stringify(read.faults))
        campaigns.push(await publish(read.trigger))
      }
      const calls = events.map((event, index) => track(businessId, factOf(event, `p${index}@x.io`)))
      const answers = (await pipeline.apply(...calls)) as TrackAnswer[]
      const expected = all.flatMap((where, campaign) =>
        events.flatMap((event, index) =>
          where.every((condition) => holds(condition, event))
            ? [`${campaigns[campaign]} ${answers[index]!.contactId}`]
            : [],
        ),
      )
      expect(await enrolled()).toEqual(expected.toSorted())
    },
  )
  await fc.assert(property, { numRuns: runs(30) })
})

it('starts by events of servers alone when it asks for them, and else by those of pages, too', async () => {
  const both = await publish({ event: 'paid' })
  const live = await publish({ event: 'paid', sources: ['live'] })
  await pipeline.apply(identify(businessId, identifyFact(ANN, { visitorId: 'v' })))
  await pipeline.apply(browser(businessId, browserFact('paid', 'v')))
  const [first] = await enrolled()
  expect(await enrolled()).toEqual([expect.stringContaining(both)])
  await pipeline.apply(batch(businessId, [eventFact('paid', ANN)]))
  expect(await enrolled()).toEqual([first])
  await pipeline.apply(track(businessId, eventFact('paid', ANN)))
  expect(await enrolled()).toEqual([first, expect.stringContaining(live)])
})

it('counts only campaigns whose conditions hold among the 20 that an event enrols in', async () => {
  const where = (value: string) => [{ property: 'plan', operator: 'equals' as const, value }]
  for (let index = 0; index < 20; index++) await publish({ event: 'paid', where: where('free') })
  const last = await publish({ event: 'paid', where: where('pro') })
  await pipeline.apply(track(businessId, eventFact('paid', ANN, { properties: '{"plan":"pro"}' })))
  expect(await enrolled()).toEqual([expect.stringContaining(last)])
})
