/**
 * Entering or leaving a segment starts campaigns, in the save of the change; and how the answer to a call reports it.
 */
import { pino } from 'pino'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NO_DEFINITION } from '../../src/campaigns/campaign.ts'
import type { NewCampaign } from '../../src/campaigns/create-campaign.ts'
import { draftCampaign, publishDraft } from '../support/campaigns.ts'
import { settleDue } from '../../src/segments/settle-due.ts'
import { NOW, type Pipeline, batch, eventFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { type TestSegment, insertSegment } from './segments-support.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
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

const WAIT: NewCampaign['definition'] = { ...NO_DEFINITION, steps: [{ id: 'w', type: 'wait', for: 'P1D' }] }

async function publish(trigger: NewCampaign['trigger'], goalEvent: string | null = null, definition = NO_DEFINITION) {
  const drafted = { name: 'Welcome', trigger, canEnterAgain: true, goalEvent, definition }
  const campaignId = await draftCampaign(stack.sql, businessId, drafted)
  const published = await publishDraft(stack.sql, businessId, campaignId)
  expect(published.kind).toBe('published')
  return campaignId
}
const enrolments = () => stack.sql<{ state: string; at: number }[]>`
  select state, enrolled_at as at from enrolments where business_id = ${businessId} order by enrolled_at`
const recent = (): Promise<TestSegment> =>
  insertSegment(stack.sql, businessId, { event: 'visit', metric: 'last', operator: 'within_days', value: 1 })

/** Returns the loops that the saves have woken. */
async function settleUntil(now: number): Promise<string[]> {
  const woken: string[] = []
  const deps = {
    sql: stack.sql,
    log: pino({ level: 'silent' }),
    config: { leaseMs: 3000 },
    configs: new Map(),
    now: () => now,
    wake: (sender: string) => void woken.push(sender),
  }
  while ((await settleDue(deps)) === 'more') continue
  return woken
}

describe('a campaign that a segment starts', () => {
  it('enrols who enters by a live event', async () => {
    const { segmentId } = await recent()
    await publish({ segment: segmentId, on: 'enter' })
    await pipeline.apply(track(businessId, eventFact('visit', ANN)))
    expect(await enrolments()).toEqual([{ state: 'active', at: NOW }])
  })

  it('enrols who leaves by time, at that instant, and is woken', async () => {
    const { segmentId } = await recent()
    await publish({ segment: segmentId, on: 'leave' }, null, WAIT)
    await pipeline.apply(track(businessId, eventFact('visit', ANN)))
    expect(await settleUntil(NOW + 2 * DAY)).toEqual(['campaigns'])
    expect(await enrolments()).toEqual([{ state: 'active', at: NOW + DAY + 1 }])
  })

  it('is not woken by a change that starts nothing', async () => {
    const { segmentId } = await recent()
    await publish({ segment: segmentId, on: 'enter' }, null, WAIT)
    await pipeline.apply(track(businessId, eventFact('visit', ANN)))
    expect(await settleUntil(NOW + 2 * DAY)).toEqual([])
  })

  it('is silent about batches, and about what a batch makes due', async () => {
    const { segmentId } = await recent()
    await publish({ segment: segmentId, on: 'enter' })
    await publish({ segment: segmentId, on: 'leave' })
    await pipeline.apply(batch(businessId, [eventFact('visit', ANN)]))
    await settleUntil(NOW + 2 * DAY)
    expect(await enrolments()).toEqual([])
  })

  it('is refused at publish when there is no such segment', async () => {
    const drafted = {
      name: 'x',
      trigger: { segment: businessId, on: 'enter' as const },
      canEnterAgain: false,
      goalEvent: null,
    }
    const campaignId = await draftCampaign(stack.sql, businessId, drafted)
    const published = await publishDraft(stack.sql, businessId, campaignId)
    expect(published).toMatchObject({ kind: 'faults', faults: [{ path: 'trigger.segment' }] })
  })
})

describe('the effects that a call asks for', () => {
  const send = (event: string, effects = true) =>
    pipeline.track({ ...track(businessId, eventFact(event, ANN)), effects } as ReturnType<typeof track>)

  it('name what the event did, and nothing else', async () => {
    const { segmentId } = await recent()
    const never = await insertSegment(stack.sql, businessId, { event: 'paid', metric: 'last', operator: 'not_exists' })
    await insertSegment(stack.sql, businessId, { tag: 'vip', operator: 'has' })
    const campaignId = await publish({ segment: segmentId, on: 'enter' }, 'paid')
    const { effects } = await send('visit')
    expect({ ...effects, entered: new Set(effects?.entered) }).toEqual({
      entered: new Set([segmentId, never.segmentId]),
      left: [],
      enrolled: [{ campaignId, key: null, state: 'active' }],
      ended: [],
    })
    expect((await send('paid')).effects).toEqual({
      entered: [],
      left: [never.segmentId],
      enrolled: [],
      ended: [{ campaignId, key: null, state: 'converted' }],
    })
    expect((await send('visit')).effects).toEqual({ entered: [], left: [], enrolled: [], ended: [] })
  })

  it('are those of the contact that is left of a merge, and not the exits of the one that is gone', async () => {
    const { segmentId } = await insertSegment(stack.sql, businessId, { tag: 'vip', operator: 'has' })
    await insertSegment(stack.sql, businessId, { event: 'visit', metric: 'count', operator: 'exists' })
    const few = await insertSegment(stack.sql, businessId, {
      event: 'visit',
      metric: 'count',
      operator: 'equals',
      value: 1,
    })
    const phone = { phone: '491701234567' }
    await pipeline.apply(track(businessId, eventFact('visit', ANN)))
    await pipeline.apply(track(businessId, eventFact('visit', phone, { tags: ['vip'] })))
    const request = track(businessId, eventFact('other', { ...ANN, ...phone }))
    const { effects } = await pipeline.track({ ...request, effects: true } as ReturnType<typeof track>)
    expect(effects).toEqual({ entered: [segmentId], left: [few.segmentId], enrolled: [], ended: [] })
  })

  it('leave out what the same call has undone', async () => {
    const often = { event: 'visit', metric: 'count', operator: 'greater_than', value: 1 } as const
    const { segmentId } = await insertSegment(stack.sql, businessId, often)
    await insertSegment(stack.sql, businessId, { ...often, operator: 'equals', value: 2 })
    const phone = { phone: '491701234567' }
    await pipeline.apply(track(businessId, eventFact('visit', ANN)))
    await pipeline.apply(track(businessId, eventFact('visit', phone)))
    // The merge makes it two visits, and the event makes it three.
    const request = track(businessId, eventFact('visit', { ...ANN, ...phone }))
    const { effects } = await pipeline.track({ ...request, effects: true } as ReturnType<typeof track>)
    expect(effects).toEqual({ entered: [segmentId], left: [], enrolled: [], ended: [] })
  })

  it('are left out unless they are asked for', async () => {
    await recent()
    expect(await send('visit', false)).not.toHaveProperty('effects')
  })
})
