/**
 * A simulation against the engine: the same campaign, contact and answers result in the same messages at the same
 * instants.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readCampaign } from '../../src/campaigns/list-campaigns.ts'
import { loadPerson } from '../../src/campaigns/simulation/load-person.ts'
import type { RenderLimits } from '../../src/campaigns/simulation/render-sends.ts'
import { type SimulationRequest, simulateCampaign } from '../../src/campaigns/simulation/simulate-campaign.ts'
import { createSegment } from '../../src/segments/create-segment.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { inertLinks } from '../../src/messages/public-links.ts'
import { suppress } from '../../src/messages/suppressions/suppress.ts'
import { shareOf } from '../../src/rules/campaigns/stable-hash.ts'
import { loadDefinitions } from '../../src/segments/load-definitions.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { NOW, type Pipeline, eventFact, openPipeline, track } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { ACTOR, ANN, DAY, type Engine, HOUR, MINUTE, type Shop, openEngine, openShop, submitTo } from './engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
let contactId: string
beforeAll(async () => {
  stack = await openStack()
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack, submitTo(pipeline))
})
afterAll(async () => {
  await engine.close()
  await stack.close()
})
beforeEach(async () => {
  const { businessId } = await createBusiness(stack.sql)
  engine.clock.now = NOW
  shop = openShop(stack, engine, pipeline, businessId)
  contactId = ((await pipeline.apply(shop.live('seen')))[0] as TrackAnswer).contactId
  await shop.optIn(contactId)
})

type Answers = SimulationRequest['answers']

async function simulate(campaignId: string, more: { answers?: Answers; from?: number; limits?: RenderLimits } = {}) {
  const { sql } = stack
  const { businessId } = shop
  const { answers = [], from = engine.clock.now, limits } = more
  const campaign = (await readCampaign(sql, businessId, campaignId))!
  const definitions = await loadDefinitions(sql, businessId)
  const context = { definitions, from, now: engine.clock.now }
  const person = await loadPerson(stack, { businessId, contactId }, campaign, context)
  if (person === null || person === 'unavailable') throw new Error('the contact was not loaded')
  const links = inertLinks(engine.deps.config)
  const event = { name: 'signup', properties: {} }
  const business = { id: businessId, name: 'Shop', timezone: 'UTC', currency: 'EUR' }
  const renderer = engine.deps.renderer.of(businessId)
  return simulateCampaign(
    { sql, renderer, ...(limits && { limits }) },
    { business, campaign, definitions, person, event, links, from, answers },
  )
}

async function simulated(campaignId: string, answers: Answers = []) {
  const result = await simulate(campaignId, { answers })
  if ('fault' in result) throw new Error(result.fault.message)
  const { sends, state } = result.simulation
  const shown = sends.map(({ stepId, at, state, reason }) => [stepId, Date.parse(at) - NOW, state, reason])
  return { sends: shown, state }
}

/** Enrols the contact, and processes due steps and the contact's answers, each at its instant. */
async function live(campaignId: string, answers: Answers) {
  await pipeline.apply(shop.live('signup', ANN, engine.clock.now))
  const left = answers.toSorted((one, other) => one.at - other.at)
  for (;;) {
    await engine.drain()
    const [next] = await shop.due()
    const [answer] = left
    const dueAt = next?.due_at ?? Infinity
    if (answer !== undefined && answer.at <= dueAt) {
      left.shift()
      engine.clock.now = answer.at
      await pipeline.apply(shop.live(answer.event, ANN, answer.at))
    } else if (next === undefined) break
    else engine.clock.now = dueAt
  }
  const messages = await stack.sql<Record<'step' | 'state' | 'reason' | 'claimed_at', never>[]>`
    select step, state, reason, claimed_at from messages
    where business_id = ${shop.businessId} and campaign_id = ${campaignId} order by claimed_at, id`
  const [enrolment] = await stack.sql<{ state: string }[]>`
    select state from enrolments where business_id = ${shop.businessId} and campaign_id = ${campaignId}`
  return {
    sends: messages.map(({ step, state, reason, claimed_at: at }) => [step, at - NOW, state, reason]),
    state: enrolment?.state,
  }
}

/** Runs both, and returns the result on which they agree. */
async function compare(campaignId: string, answers: Answers = []) {
  const before = await counted()
  const expected = await simulated(campaignId, answers)
  expect(await counted()).toEqual(before)
  expect(await live(campaignId, answers)).toEqual(expected)
  return expected
}

/** Counts all rows of the business. */
async function counted(): Promise<unknown> {
  const tables = ['enrolments', 'due_steps', 'messages', 'logged_messages', 'audit_log', 'contacts', 'event_statistics']
  const counts = tables.map(
    (table) => stack.sql`select count(*)::int from ${stack.sql(table)} where business_id = ${shop.businessId}`,
  )
  return Promise.all(counts)
}

const send = (id: string, template: string, more: object = {}) => ({
  id,
  type: 'send',
  channel: 'email',
  template,
  ...more,
})
const wait = (id: string, time: string) => ({ id, type: 'wait', for: time })

describe('a simulation is what the engine does', () => {
  it('through waits and quiet hours, in the zone of the contact', async () => {
    await stack.sql`update contacts set timezone = 'Asia/Tokyo' where id = ${contactId}`
    const template = await shop.template()
    const id = await shop.publish([
      send('a', template),
      wait('w', 'PT9H'),
      send('b', template),
      { id: 'u', type: 'wait_until', time: '11:30', weekdays: [6] },
      send('c', template),
      send('t', template, { kind: 'transactional' }),
    ])
    expect((await compare(id)).sends).toHaveLength(4)
  })

  it('under caps, with what other campaigns have sent', async () => {
    const template = await shop.template()
    await shop.publish([send('x', template)], { trigger: 'seen' })
    await pipeline.apply(shop.live('seen'))
    await engine.drain(NOW + HOUR)
    const caps = [
      { channel: 'email', atMost: 2, days: 2 },
      { channel: 'email', atMost: 4, days: 30, whenReached: 'skip' },
    ]
    const ids = ['a', 'b', 'c', 'd']
    const id = await shop.publish(
      ids.map((one) => send(one, template)),
      { caps, quietHours: null },
    )
    expect((await compare(id)).sends).toEqual([
      ['a', HOUR, 'sent', null],
      ['b', 2 * DAY + HOUR, 'sent', null],
      ['c', 2 * DAY + HOUR, 'sent', null],
      ['d', expect.any(Number), 'skipped', 'cap'],
    ])
  })

  it.each<[string, number[]]>([
    ['unanswered', []],
    ['answered', [5 * HOUR]],
    ['answered too early and too late', [30 * MINUTE, 26 * HOUR]],
  ])('that waits for an event, %s', async (_, ats) => {
    const template = await shop.template()
    const id = await shop.publish(
      [
        wait('w', 'PT1H'),
        {
          id: 'f',
          type: 'wait_for',
          event: 'opened',
          timeout: 'P1D',
          steps: [send('yes', template)],
          otherwise: [send('no', template)],
        },
      ],
      { quietHours: null },
    )
    const { sends } = await compare(
      id,
      ats.map((at) => ({ event: 'opened', at: NOW + at })),
    )
    expect(sends.map(([step]) => step)).toEqual([ats[0] === 5 * HOUR ? 'yes' : 'no'])
  })

  it('up to the goal', async () => {
    const template = await shop.template()
    const id = await shop.publish([send('a', template), wait('w', 'P3D'), send('b', template)], { goal: 'paid' })
    const answers = [{ event: 'paid', at: NOW + DAY }]
    expect(await compare(id, answers)).toEqual({ sends: [['a', 0, 'sent', null]], state: 'converted' })
  })

  it('at branches on what has happened until then, and on segments', async () => {
    const template = await shop.template()
    const rule = { event: 'opened', metric: 'count', operator: 'greater_than_or_equal', value: 2 }
    const change = { businessId: shop.businessId, actor: ACTOR }
    const created = await createSegment(stack.sql, change, { name: 'Fans', description: null, rule })
    if (created.kind !== 'created') throw new Error(created.kind)
    const { segmentId } = created.segment
    const branch = (id: string, rule: object) => ({
      id,
      type: 'branch',
      rule,
      steps: [send(`${id} yes`, template)],
      otherwise: [send(`${id} no`, template)],
    })
    const id = await shop.publish(
      [
        branch('enrolled', { event: 'signup', metric: 'count', operator: 'equals', value: 1 }),
        branch('decides', { attribute: 'stage', operator: 'at_least', value: 'Decision' }),
        wait('w', 'P1D'),
        branch('fan', { segment: segmentId, operator: 'is_member' }),
        branch('decided', { attribute: 'stage', operator: 'at_least', value: 'Decision' }),
        branch('ordered', { attribute: 'orderCount', operator: 'equals', value: 1 }),
        wait('v', 'P1D'),
        branch('late', { event: 'opened', metric: 'last', operator: 'within_days', value: 1 }),
      ],
      { quietHours: null },
    )
    const answers = [
      { event: 'opened', at: NOW + HOUR },
      { event: 'purchase', at: NOW + 2 * HOUR },
      { event: 'opened', at: NOW + 3 * HOUR },
      { event: 'opened', at: NOW + 50 * HOUR },
    ]
    const { sends } = await compare(id, answers)
    expect(sends.map(([step]) => step)).toEqual([
      'enrolled yes',
      'decides no',
      'fan yes',
      'decided yes',
      'ordered yes',
      'late no',
    ])
  })

  it('at branches and templates after an update', async () => {
    await pipeline.apply(track(shop.businessId, eventFact('seen', ANN, { traits: { plan: 'free' } })))
    const template = await shop.template('email', 'Plan {{contact.customFields.plan}}')
    const branch = (id: string, rule: object) => ({
      id,
      type: 'branch',
      rule,
      steps: [send(`${id} yes`, template)],
      otherwise: [send(`${id} no`, template)],
    })
    const update = { id: 'u', type: 'update', addTags: ['vip'], traits: { plan: 'pro' } }
    const id = await shop.publish(
      [
        branch('before', { tag: 'vip', operator: 'has' }),
        update,
        branch('tagged', { tag: 'vip', operator: 'has' }),
        branch('set', { customField: 'plan', operator: 'equals', value: 'pro' }),
      ],
      { quietHours: null },
    )
    const { sends } = await compare(id)
    expect(sends.map(([step]) => step)).toEqual(['before no', 'tagged yes', 'set yes'])
  })

  it('at splits, and for those who are held out', async () => {
    const template = await shop.template()
    const parts = [
      { percent: 50, steps: [send('one', template)] },
      { percent: 50, steps: [send('two', template)] },
    ]
    const steps = [{ id: 's', type: 'split', parts }]
    const way = shareOf('split', contactId, 's') < 5000 ? 'one' : 'two'
    for (let holdOut = 0; holdOut <= 50; holdOut += 25) {
      const id = await shop.publish(steps, { holdOut, trigger: 'signup' })
      const isOut = shareOf('hold-out', contactId, id) < holdOut * 100
      const expected = isOut ? ['skipped', 'held_out'] : ['sent', null]
      const { sends } = await simulated(id)
      expect(sends).toEqual([[way, 0, ...expected]])
      expect((await live(id, [])).sends).toEqual(sends)
      engine.clock.now = NOW
      await stack.sql`update enrolments set state = 'finished' where campaign_id = ${id}`
    }
  })

  it('without an opt-in, an address, or a template that can be rendered', async () => {
    const [mail, text, hook] = [
      await shop.template(),
      await shop.template('sms'),
      await shop.template('webhook', '{{contact.email}}'),
    ]
    await shop.optIn(contactId, 'whatsapp', false)
    const steps = [
      send('w', await shop.template('whatsapp', 'x'), { channel: 'whatsapp' }),
      send('s', text, { channel: 'sms', kind: 'transactional' }),
      send('h', hook, { channel: 'webhook' }),
      send('i', hook, { channel: 'webhook' }),
      send('m', mail),
    ]
    const caps = [{ channel: 'webhook', atMost: 1, days: 1, whenReached: 'skip' }]
    const id = await shop.publish(steps, { caps, quietHours: null })
    expect((await compare(id)).sends.map(([step, , state, reason]) => [step, state, reason])).toEqual([
      ['w', 'skipped', 'no_opt_in'],
      ['s', 'skipped', 'no_address'],
      ['h', 'failed', 'template_failed'],
      ['i', 'failed', 'template_failed'],
      ['m', 'sent', null],
    ])
  })

  it('to an address that is suppressed', async () => {
    const id = await shop.publish([send('a', await shop.template())])
    const key = await loadMessageKey(stack.sql)
    const item = { channel: 'email', address: ANN.email, reason: 'complaint' } as const
    await stack.sql.begin((tx) => suppress(tx, key, { businessId: shop.businessId, now: NOW }, [item]))
    expect((await compare(id)).sends).toEqual([['a', 0, 'skipped', 'suppressed']])
  })
})

it.each([
  [true, 'no_address'],
  [false, null],
])('to an address that only a page has sent, when a keyed call has used the contact: %s', async (keyed, reason) => {
  const shown = send('h', await shop.template('webhook', '"{{contact.email}}"'), { channel: 'webhook' })
  const id = await shop.publish([send('a', await shop.template()), shown])
  await stack.sql`update identities set proven = false where contact_id = ${contactId}`
  await stack.sql`update contacts set keyed = ${keyed} where id = ${contactId}`
  const body = keyed ? '""' : '"ann@x.io"'
  expect(await simulate(id)).toMatchObject({
    simulation: {
      sends: [
        { stepId: 'a', reason },
        { stepId: 'h', message: { body } },
      ],
    },
  })
})

describe('the limits of what is rendered', () => {
  const body = 'x'.repeat(1000)
  const publish = async () => {
    const template = await shop.template('sms', body)
    return shop.publish([1, 2].map((n) => send(`s${n}`, template, { channel: 'sms', kind: 'transactional' })))
  }
  /** The text and its language. */
  const size = 2 * (body.length + 2)
  beforeEach(
    () =>
      stack.sql`
      insert into identities (business_id, contact_id, kind, value, position, proven, phone_read)
      values (${shop.businessId}, ${contactId}, 'phone', '972501234567', 9, true, true)`,
  )

  it('are kept up to the last byte', async () => {
    const id = await publish()
    const result = await simulate(id, { limits: { ms: 60_000, size } })
    expect(result).toMatchObject({ simulation: { sends: [{ state: 'sent' }, { message: { text: body } }] } })
    expect(await simulate(id, { limits: { ms: 60_000, size: size - 1 } })).toMatchObject({
      fault: { path: 'steps[1].template' },
    })
  })

  it('include a time', async () => {
    expect(await simulate(await publish(), { limits: { ms: 0, size } })).toEqual({
      fault: {
        path: 'steps[0].template',
        message: 'steps[0].template: what the simulation renders until there takes more than 0 seconds',
      },
    })
  })
})

it('counts the newest sends of a channel, as many as a cap can limit', async () => {
  const template = await shop.template()
  const caps = [{ channel: 'email', atMost: 1000, days: 1, whenReached: 'skip' }]
  const id = await shop.publish([send('a', template)], { caps })
  const insert = (many: number, at: number) => stack.sql`
    insert into messages (business_id, id, campaign_id, enrolment_id, contact_id, step, channel, state, claimed_at, states, template_id)
    select ${shop.businessId}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), ${contactId}, 'a', 'email', 'sent', ${at}, '[]',
      gen_random_uuid() from generate_series(1, ${many})`
  await insert(999, NOW)
  await insert(50, NOW - DAY)
  await insert(50, NOW + 1)
  expect((await simulated(id)).sends).toEqual([['a', 0, 'sent', null]])
  await insert(1, NOW - 1)
  expect((await simulated(id)).sends).toEqual([['a', 0, 'skipped', 'cap']])
})
