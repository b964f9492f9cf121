/** The records in Postgres of what an enrolment waits for, what each claim looked at, and when the status changed. */
import { createServer } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import { changeStatus } from '../../src/campaigns/change-status.ts'
import { explainEnrolments } from '../../src/campaigns/explain-enrolments.ts'
import { explainSends } from '../../src/campaigns/explain-sends.ts'
import { MAX_STATUS_CHANGES, readStatusChanges } from '../../src/campaigns/status-changes.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { NOW, type Pipeline } from '../support/facts.ts'
import type { Stack } from '../support/stack.ts'
import { ACTOR, DAY, type Engine, HOUR, MINUTE, type Shop, useMailServer } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
let contactId: string
let template: string
useEngineLab((lab) => ({ stack, pipeline, engine, shop } = lab))
beforeEach(async () => {
  contactId = ((await pipeline.apply(shop.live('seen')))[0] as TrackAnswer).contactId
  await shop.optIn(contactId)
  template = await shop.template()
})

const send = (id: string, more: object = {}) => ({ id, type: 'send', channel: 'email', template, ...more })
const wait = (id: string, time: string) => ({ id, type: 'wait', for: time })
const iso = (at: number) => new Date(at).toISOString()
const one = (campaignId: string) => ({ businessId: shop.businessId, campaignId, contactId })

async function waiting(campaignId: string, goal: string | null = null) {
  const enrolments = await explainEnrolments(stack.sql, one(campaignId), { goal, limit: 100 })
  return enrolments.map(({ waitsFor, nextAt }) => ({ waitsFor, nextAt }))
}
const checks = async (campaignId: string) =>
  (await explainSends(stack.sql, one(campaignId), 100)).map(({ stepId, checked }) => ({ stepId, ...checked }))

describe('an enrolment', () => {
  it('waits for a duration, then for the end of quiet hours, and the message says so for ever', async () => {
    const hours = { from: '21:00', to: '09:00' }
    const campaign = await shop.publish([wait('w', 'PT12H'), send('s')], { goal: 'paid' })
    await pipeline.apply(shop.live('signup'))
    await engine.drain()
    const due = NOW + 12 * HOUR
    expect(await waiting(campaign)).toEqual([{ waitsFor: { type: 'wait', for: 'PT12H' }, nextAt: iso(due) }])
    await engine.drain(due)
    const opens = Date.parse('2026-11-21T09:00:00Z')
    const held = { type: 'quiet_hours', ...hours }
    expect(await waiting(campaign)).toEqual([{ waitsFor: held, nextAt: iso(opens) }])
    await engine.drain(opens)
    expect(await waiting(campaign)).toEqual([{ waitsFor: null, nextAt: null }])
    expect(await checks(campaign)).toEqual([
      {
        stepId: 's',
        at: iso(opens),
        dueAt: iso(opens),
        waited: { stepId: 's', since: iso(due), heldBy: held },
        key: null,
        kind: 'marketing',
        goal: { event: 'paid', lastAt: null },
        heldOut: false,
        consent: { subscribed: true, at: iso(NOW), method: 'form' },
        topic: null,
        suppressed: false,
        zone: 'UTC',
        quietHours: hours,
        quietHoursSetBy: 'business',
        isImmediate: false,
        window: { from: iso(opens), until: iso(opens + 12 * HOUR) },
        caps: [],
      },
    ])
  })

  it('waits for a cap, and the messages say how many counted', async () => {
    const cap = { channel: 'email', atMost: 1, days: 0.5 }
    const campaign = await shop.publish([send('a'), send('b')], { caps: [cap], quietHours: null })
    await pipeline.apply(shop.live('signup'))
    await engine.drain()
    const waitsFor = { type: 'cap', ...cap }
    expect(await waiting(campaign)).toEqual([{ waitsFor, nextAt: iso(NOW + DAY / 2) }])
    await engine.drain(NOW + DAY / 2)
    const whenReached = 'wait'
    expect(await checks(campaign)).toMatchObject([
      {
        stepId: 'b',
        caps: [{ ...cap, whenReached, counted: 0 }],
        waited: { heldBy: waitsFor },
        window: { until: null },
      },
      { stepId: 'a', caps: [{ ...cap, whenReached, counted: 0 }], waited: { heldBy: null }, window: null },
    ])
  })

  it('says of a skipped message what it lacked', async () => {
    const caps = [{ channel: 'email', atMost: 1, days: 1, whenReached: 'skip' }]
    const campaign = await shop.publish([send('a'), send('b'), send('c', { kind: 'transactional' })], { caps })
    await pipeline.apply(shop.live('signup'))
    await engine.drain()
    expect(await shop.states()).toEqual(['a sent', 'b skipped cap', 'c sent'])
    expect(await checks(campaign)).toMatchObject([
      { stepId: 'c', kind: 'transactional', caps: [], window: null, isImmediate: true },
      { stepId: 'b', caps: [{ counted: 1 }] },
      { stepId: 'a', caps: [{ counted: 0 }] },
    ])
  })

  it('waits for another attempt, and everything is looked at anew', async () => {
    const server = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await new Promise((resolve) => server.close(resolve))
    await useMailServer(stack, engine.deps, shop.businessId, port)
    const campaign = await shop.publish([send('a')])
    await pipeline.apply(shop.live('signup'))
    const [claimed] = await engine.claim()
    expect(await waiting(campaign)).toEqual([{ waitsFor: { type: 'sending' }, nextAt: null }])
    await engine.send(claimed!)
    const [{ waitsFor, nextAt }] = (await waiting(campaign)) as [{ waitsFor: unknown; nextAt: string }]
    expect(waitsFor).toEqual({ type: 'retry', attempts: 1 })
    expect(await checks(campaign)).toMatchObject([{ at: iso(NOW), suppressed: false }])
    engine.clock.now = Date.parse(nextAt)
    await shop.optIn(contactId, 'email', false)
    await engine.drain()
    expect(await shop.states()).toEqual(['a skipped no_opt_in'])
    const consent = { subscribed: false, at: nextAt, method: 'form' }
    expect(await checks(campaign)).toMatchObject([{ at: nextAt, dueAt: nextAt, consent }])
  })

  it('waits for an event, for the end of a pause, and without steps for the goal', async () => {
    const campaign = await shop.publish([{ id: 'f', type: 'wait_for', event: 'paid', timeout: 'PT1H' }])
    const bare = await shop.publish([], { goal: 'paid' })
    await pipeline.apply(shop.live('signup'))
    await engine.drain()
    const waitsFor = { type: 'wait_for', event: 'paid', timeout: 'PT1H' }
    expect(await waiting(campaign)).toEqual([{ waitsFor, nextAt: iso(NOW + HOUR) }])
    expect(await waiting(bare, 'paid')).toEqual([{ waitsFor: { type: 'goal', event: 'paid' }, nextAt: null }])
    await changeStatus(stack.sql, { businessId: shop.businessId, actor: ACTOR }, campaign, 'pause')
    await engine.drain(NOW + HOUR + MINUTE)
    expect(await waiting(campaign)).toEqual([{ waitsFor: { type: 'resume' }, nextAt: null }])
  })

  it('is not explained once the person was erased, nor are its messages', async () => {
    const campaign = await shop.publish([send('a'), wait('w', 'P1D')])
    await pipeline.apply(shop.live('signup'))
    await engine.drain()
    expect(await checks(campaign)).toHaveLength(1)
    await pipeline.apply({ kind: 'erase', businessId: shop.businessId, receivedAt: NOW, contactId })
    expect([await waiting(campaign), await checks(campaign)]).toEqual([[], []])
    const [row] = await stack.sql`select checked from messages where business_id = ${shop.businessId}`
    expect(row).toEqual({ checked: null })
  })
})

describe('the changes of the status', () => {
  it('are kept in their order', async () => {
    const campaignId = await shop.publish([])
    const key = { businessId: shop.businessId, campaignId }
    for (const change of ['pause', 'pause', 'resume', 'archive'] as const)
      await changeStatus(stack.sql, { businessId: shop.businessId, actor: ACTOR }, campaignId, change)
    const { changes, isCut } = await readStatusChanges(stack.sql, key)
    expect(changes.map(({ status }) => status)).toEqual(['published', 'paused', 'published', 'archived'])
    expect(isCut).toBe(false)
    expect(changes.map(({ at }) => at)).toEqual(changes.map(({ at }) => at).toSorted((a, b) => a - b))
  })

  it('are at most 1,000 of a campaign: the oldest is forgotten', async () => {
    const campaignId = await shop.publish([])
    const key = { businessId: shop.businessId, campaignId }
    await stack.sql`
      insert into campaign_status_changes (business_id, campaign_id, status, at)
      select ${key.businessId}, ${campaignId}, case when n % 2 = 0 then 'published' else 'paused' end, n
      from generate_series(1, ${MAX_STATUS_CHANGES - 2}) n`
    expect(await readStatusChanges(stack.sql, key)).toMatchObject({ changes: { length: 999 }, isCut: false })
    const change = (to: 'pause' | 'resume') =>
      changeStatus(stack.sql, { businessId: shop.businessId, actor: ACTOR }, campaignId, to)
    await change('pause')
    const full = await readStatusChanges(stack.sql, key)
    expect(full).toMatchObject({ changes: { length: 1000 }, isCut: true })
    await change('resume')
    const { changes } = await readStatusChanges(stack.sql, key)
    expect(changes.slice(0, -1)).toEqual(full.changes.slice(1))
    expect(changes.at(-1)?.status).toBe('published')
  })
})
