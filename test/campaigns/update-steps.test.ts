/**
 * Update steps: the save of the live partition applies each once, whichever process dies, and whatever happens to the
 * contact in between.
 */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { changeStatus } from '../../src/campaigns/change-status.ts'
import { readCampaign } from '../../src/campaigns/list-campaigns.ts'
import { explainEnrolments } from '../../src/campaigns/explain-enrolments.ts'
import { type ClaimedUpdate, applyUpdate } from '../../src/campaigns/engine/apply-update.ts'
import { claimDue } from '../../src/campaigns/engine/claim/claim-due.ts'
import { MAX_CHAIN } from '../../src/rules/limits.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import type { SubmitResult } from '../../src/stream/publish/submit.ts'
import { insertSegment } from '../segments/segments-support.ts'
import { NOW, type Pipeline, type RequestContext, eventFact, openPipeline, track } from '../support/facts.ts'
import type { Stack } from '../support/stack.ts'
import { ACTOR, ANN, DAY, type Engine, HOUR, MINUTE, type Shop } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
/** Pipeline of another worker. */
let other: Pipeline
let engine: Engine
let shop: Shop
let contactId: string
useEngineLab((lab) => ({ stack, pipeline, engine, shop } = lab), { updates: true })
beforeAll(async () => {
  other = await openPipeline(stack.sql)
})
beforeEach(async () => {
  contactId = ((await pipeline.apply(shop.live('seen')))[0] as TrackAnswer).contactId
  await shop.optIn(contactId)
})

const update = (id: string, more: object) => ({ id, type: 'update', ...more })
const PAUSE = { id: 'p', type: 'wait', for: 'PT1H' }
const VIP = update('u', { addTags: ['vip'] })

async function person(id = contactId) {
  const [row] = await stack.sql<{ tags: string[]; traits: Record<string, [number, string | null]>; version: number }[]>`
    select to_json(tags) as tags, traits, version from contacts where business_id = ${shop.businessId} and id = ${id}`
  return { tags: row?.tags, plan: row?.traits['plan']?.[1], version: Number(row?.version) }
}

/** Claims updates like a worker that died before it pushed the entry to the stream. */
async function claimUpdates(): Promise<ClaimedUpdate[]> {
  const { updates } = await claimDue(engine.deps, 64)
  return updates
}

const entryOf = ({ businessId, contactId: id, enrolmentId, step }: ClaimedUpdate): RequestContext => ({
  kind: 'edit',
  businessId,
  receivedAt: engine.clock.now,
  contactId: id,
  fact: { profile: {}, traits: step.traits, addTags: step.addTags, removeTags: step.removeTags, warnings: [] },
  step: { enrolmentId, stepId: step.id },
})

async function enrolWaiting(steps: object[] = [VIP, PAUSE], more: Record<string, unknown> = {}) {
  const campaignId = await shop.publish(steps, more)
  await pipeline.apply(shop.live('signup'))
  const [claimed] = await claimUpdates()
  return { campaignId, claimed: claimed! }
}
const editTags = (fields: { addTags?: string[]; removeTags?: string[] }) =>
  pipeline.apply({
    kind: 'edit',
    businessId: shop.businessId,
    receivedAt: engine.clock.now,
    contactId,
    fact: { profile: {}, traits: {}, addTags: [], removeTags: [], warnings: [], ...fields },
  })
const status = (campaignId: string, change: 'pause' | 'resume' | 'archive') =>
  changeStatus(stack.sql, { businessId: shop.businessId, actor: ACTOR }, campaignId, change)

describe('an update', () => {
  it('sets tags and traits, and its own branches see them', async () => {
    await pipeline.apply(
      track(shop.businessId, eventFact('seen', ANN, { tags: ['cold', 'kept'], traits: { plan: 'free', seats: 5 } })),
    )
    const template = await shop.template('email', '{{contact.customFields.plan}}')
    const rule = { all: [{ tag: 'vip', operator: 'has' }, { not: { tag: 'cold', operator: 'has' } }] }
    const send = (id: string) => ({ id, type: 'send', channel: 'email', template })
    await shop.publish([
      update('u', { addTags: ['vip'], removeTags: ['cold'], traits: { plan: 'pro', seats: null } }),
      { id: 'b', type: 'branch', rule, steps: [send('yes')], otherwise: [send('no')] },
    ])
    await pipeline.apply(shop.live('signup'))
    await engine.drain()
    expect(await person()).toMatchObject({ tags: ['kept', 'vip'], plan: '"pro"' })
    expect(await shop.states()).toEqual(['yes sent'])
    expect((await shop.logged()).map(({ message }) => message['subject'])).toEqual(['pro'])
    expect(await shop.enrolments()).toEqual(['finished'])
  })

  it('does not count as a wait: the first message goes out at once, in quiet hours, too', async () => {
    const template = await shop.template()
    await shop.publish([VIP, { id: 's', type: 'send', channel: 'email', template }], {
      quietHours: { from: '00:00', to: '23:59' },
    })
    await pipeline.apply(shop.live('signup'))
    await engine.drain()
    expect(await shop.states()).toEqual(['s sent'])
  })

  it('sets what fits: a field may have got another type since the publish', async () => {
    await shop.publish([update('u', { addTags: ['vip'], traits: { plan: 'pro' } })])
    await pipeline.apply(track(shop.businessId, eventFact('signup', ANN, { traits: { plan: 5 } })))
    await engine.drain()
    expect(await person()).toMatchObject({ tags: ['vip'], plan: '5' })
    expect(await shop.enrolments()).toEqual(['finished'])
  })

  it('enrols by the segment that it leads into, in the same save', async () => {
    const { segmentId } = await insertSegment(stack.sql, shop.businessId, { tag: 'vip', operator: 'has' })
    const inner = await shop.publish([], { trigger: { segment: segmentId, on: 'enter' } })
    const { claimed } = await enrolWaiting()
    await applyUpdate(engine.deps, claimed)
    const rows = await stack.sql`
      select campaign_id, state from enrolments where business_id = ${shop.businessId} order by id`
    expect(rows).toEqual([
      { campaign_id: claimed.campaignId, state: 'active' },
      { campaign_id: inner, state: 'active' },
    ])
  })
})

describe('exactly once', () => {
  it('when a worker dies before its entry is in the stream', async () => {
    await enrolWaiting()
    expect(await shop.due()).toMatchObject([{ step: 'u', settled: false, due_at: expect.any(Number) as unknown }])
    expect(await claimUpdates()).toEqual([])
    await engine.drain(NOW + 2 * MINUTE)
    expect(await person()).toMatchObject({ tags: ['vip'] })
    expect(await shop.due()).toMatchObject([{ step: 'p' }])
  })

  it('when the entry waits, and another one is made: the second finds that the step was applied', async () => {
    const { claimed } = await enrolWaiting()
    engine.clock.now = NOW + 2 * MINUTE
    const [again] = await claimUpdates()
    expect(again).toEqual(claimed)
    await pipeline.apply(entryOf(claimed))
    await editTags({ removeTags: ['vip'] })
    const { version } = await person()
    await pipeline.apply(entryOf(again!))
    expect(await person()).toMatchObject({ tags: [], version })
    await engine.drain()
    await pipeline.apply(entryOf(claimed))
    expect(await person()).toMatchObject({ tags: [] })
    expect(await shop.due()).toMatchObject([{ step: 'p', settled: false }])
  })

  it('when two workers apply it at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const identity = { email: `p${round}@x.io` }
      if (round === 0) await shop.publish([VIP, PAUSE])
      const [{ contactId: id }] = (await pipeline.apply(shop.live('signup', identity))) as [TrackAnswer]
      const [claimed] = await claimUpdates()
      const { version } = await person(id)
      await Promise.all([pipeline.apply(entryOf(claimed!)), other.apply(entryOf(claimed!))])
      expect(await person(id)).toMatchObject({ tags: ['vip'], version: version + 1 })
    }
  })

  it('also when the step is claimed by two workers', async () => {
    await shop.publish([VIP, PAUSE])
    await pipeline.apply(shop.live('signup'))
    const claims = await Promise.all([claimUpdates(), claimUpdates()])
    // Each may skip rows that both have looked at; the next look finds them.
    claims.push(await claimUpdates())
    expect(claims.flat()).toHaveLength(1)
  })

  it('also after a stream that took nothing, at once when it takes entries again', async () => {
    const { claimed } = await enrolWaiting()
    const refusing = {
      ...engine.deps,
      submit: (): Promise<SubmitResult> => Promise.resolve({ kind: 'unavailable', retryAfter: 1 }),
    }
    await applyUpdate(refusing, claimed)
    expect(await shop.due()).toMatchObject([{ due_at: NOW + 2000 }])
    await engine.drain(NOW + 2000)
    expect(await person()).toMatchObject({ tags: ['vip'] })
  })

  it('after a dead letter: its replay applies the step, and until then it is tried once a day', async () => {
    const { claimed } = await enrolWaiting()
    const failing = {
      ...engine.deps,
      submit: (): Promise<SubmitResult> => Promise.resolve({ kind: 'answered', answer: { failed: true } }),
    }
    await applyUpdate(failing, claimed)
    expect(await shop.due()).toMatchObject([{ due_at: NOW + DAY, settled: false }])
    await pipeline.apply({ ...entryOf(claimed), replayOf: crypto.randomUUID() })
    expect(await person()).toMatchObject({ tags: ['vip'] })
    await engine.drain()
    expect(await shop.due()).toMatchObject([{ step: 'p' }])
  })
})

describe('what happens while it waits', () => {
  it('a goal and an archive end the enrolment, and nothing is applied', async () => {
    const { claimed } = await enrolWaiting([VIP, PAUSE], { goal: 'paid' })
    await pipeline.apply(shop.live('paid'))
    await pipeline.apply(entryOf(claimed))
    expect(await person()).toMatchObject({ tags: [] })
    expect(await shop.enrolments()).toEqual(['converted'])

    const second = await shop.publish([update('v', { addTags: ['late'] })], { trigger: 'visit' })
    await pipeline.apply(shop.live('visit'))
    const [waiting] = await claimUpdates()
    await status(second, 'archive')
    await engine.drain(NOW + 2 * MINUTE)
    await pipeline.apply(entryOf(waiting!))
    expect(await person()).toMatchObject({ tags: [] })
    expect(await shop.enrolments()).toEqual(['converted', 'stopped'])
  })

  it('a pause begins no update; what is in the stream is applied, and goes on at the resume', async () => {
    const { campaignId, claimed } = await enrolWaiting()
    await status(campaignId, 'pause')
    await engine.drain(NOW + 2 * MINUTE)
    expect(await shop.due()).toMatchObject([{ step: 'u', held: true, settled: false }])
    await pipeline.apply(entryOf(claimed))
    await engine.drain(NOW + 3 * MINUTE)
    expect(await shop.due()).toMatchObject([{ step: 'u', held: true, settled: true }])
    expect(await person()).toMatchObject({ tags: ['vip'] })
    await status(campaignId, 'resume')
    await editTags({ removeTags: ['vip'] })
    await engine.drain()
    expect(await shop.due()).toMatchObject([{ step: 'p' }])
    expect(await person()).toMatchObject({ tags: [] })
  })

  it('one that was not begun before a pause is begun at the resume', async () => {
    const campaignId = await shop.publish([VIP, PAUSE])
    await pipeline.apply(shop.live('signup'))
    await status(campaignId, 'pause')
    await engine.drain()
    expect(await person()).toMatchObject({ tags: [] })
    await status(campaignId, 'resume')
    await engine.drain()
    expect(await person()).toMatchObject({ tags: ['vip'] })
  })

  it('after a merge it is applied to the survivor, once', async () => {
    const bob = { email: 'bob@x.io' }
    await shop.publish([VIP, PAUSE])
    const [{ contactId: loser }] = (await pipeline.apply(shop.live('signup', bob))) as [TrackAnswer]
    const [claimed] = await claimUpdates()
    expect(claimed!.contactId).toBe(loser)
    await pipeline.apply(shop.live('seen', { ...ANN, platformCustomerId: '7' }))
    await pipeline.apply(shop.live('seen', { ...bob, platformCustomerId: '7' }))
    await pipeline.apply(entryOf(claimed!))
    expect(await person()).toMatchObject({ tags: ['vip'] })
    await editTags({ removeTags: ['vip'] })
    await pipeline.apply(entryOf(claimed!))
    expect(await person()).toMatchObject({ tags: [] })
  })

  it('after an erasure nothing is left of it', async () => {
    const { claimed } = await enrolWaiting()
    await pipeline.apply({ kind: 'erase', businessId: shop.businessId, receivedAt: NOW, contactId })
    expect(await pipeline.apply(entryOf(claimed))).toEqual([{ contactId: null, warnings: [] }])
    expect(await shop.due()).toEqual([])
  })

  it('explain says what it waits for', async () => {
    const { campaignId } = await enrolWaiting()
    const one = { businessId: shop.businessId, campaignId, contactId }
    const [enrolment] = await explainEnrolments(stack.sql, one, { goal: null, limit: 10 })
    expect(enrolment).toMatchObject({ stepId: 'u', waitsFor: { type: 'update' } })
  })
})

describe('a chain', () => {
  /** Publishes campaigns that each lead into the next. */
  async function publishChain(length: number): Promise<string[]> {
    const ids = [await shop.publish([update('u', { addTags: ['t1'] })])]
    for (let no = 1; no < length; no += 1) {
      const { segmentId } = await insertSegment(stack.sql, shop.businessId, { tag: `t${no}`, operator: 'has' })
      const steps = [update('u', { addTags: [`t${no + 1}`] })]
      ids.push(await shop.publish(steps, { trigger: { segment: segmentId, on: 'enter' } }))
    }
    return ids
  }
  const refusals = () => stack.sql<{ contact_id: string; campaign_id: string; at: number }[]>`
    select contact_id, campaign_id, at from chain_refusals where business_id = ${shop.businessId}`

  it(`begins ${MAX_CHAIN} enrolments for one event, and refuses the next one`, async () => {
    const ids = await publishChain(MAX_CHAIN + 1)
    await pipeline.apply(shop.live('signup'))
    await engine.drain()
    expect(await shop.enrolments()).toEqual(Array.from({ length: MAX_CHAIN }, () => 'finished'))
    expect(await person()).toMatchObject({ tags: expect.arrayContaining([`t${MAX_CHAIN}`]) as unknown })
    expect(await refusals()).toEqual([{ contact_id: contactId, campaign_id: ids[MAX_CHAIN], at: NOW }])
  })

  it('counts all that the event has begun; a later event begins another one', async () => {
    const { segmentId } = await insertSegment(stack.sql, shop.businessId, { tag: 'vip', operator: 'has' })
    const entering = await shop.publish([], { trigger: { segment: segmentId, on: 'enter' }, canEnterAgain: true })
    await shop.publish([VIP])
    for (let no = 2; no <= MAX_CHAIN; no += 1) await shop.publish([PAUSE])
    await pipeline.apply(shop.live('signup'))
    await engine.drain()
    expect(await shop.enrolments()).toHaveLength(MAX_CHAIN)
    expect(await refusals()).toMatchObject([{ campaign_id: entering }])
    await editTags({ removeTags: ['vip'] })
    await pipeline.apply(track(shop.businessId, eventFact('seen', ANN, { tags: ['vip'] })))
    expect(await shop.enrolments()).toHaveLength(MAX_CHAIN + 1)
  })

  it('ends a circle of campaigns', async () => {
    const tagged = await insertSegment(stack.sql, shop.businessId, { tag: 'on', operator: 'has' })
    const again = { canEnterAgain: true }
    await shop.publish([update('u', { removeTags: ['on'] })], {
      trigger: { segment: tagged.segmentId, on: 'enter' },
      ...again,
    })
    await shop.publish([update('u', { addTags: ['on'] })], {
      trigger: { segment: tagged.segmentId, on: 'leave' },
      ...again,
    })
    await pipeline.apply(track(shop.businessId, eventFact('seen', ANN, { tags: ['on'] })))
    await engine.drain()
    expect(await shop.enrolments()).toHaveLength(MAX_CHAIN)
    expect(await shop.due()).toEqual([])
  })

  it('is explained, of a merged contact, too, and forgotten with an erased one', async () => {
    const ids = await publishChain(MAX_CHAIN + 1)
    await pipeline.apply(shop.live('signup'))
    await engine.drain()
    const bob = { email: 'bob@x.io', platformCustomerId: '7' }
    await pipeline.apply(shop.live('signup', bob, NOW))
    await engine.drain(NOW + HOUR)
    await pipeline.apply(shop.live('seen', { ...ANN, platformCustomerId: '7' }))
    expect(await refusals()).toEqual([
      { contact_id: contactId, campaign_id: ids[MAX_CHAIN], at: expect.any(Number) as unknown },
    ])
    const campaign = await readCampaign(stack.sql, shop.businessId, ids[MAX_CHAIN]!)
    expect(campaign?.trigger).toMatchObject({ on: 'enter' })
    await pipeline.apply({ kind: 'erase', businessId: shop.businessId, receivedAt: NOW, contactId })
    expect(await refusals()).toEqual([])
  })
})
