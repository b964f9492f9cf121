/** The row that says where an enrolment is: the save of an event inserts, moves and deletes it. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NOW, type Pipeline, batch, browser, browserFact, eventFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { insertCampaign } from './campaign-lab.ts'
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

const WAITING = { trigger: 'signup', goal: 'paid', definition: { steps: [] }, firstStep: 'a' }
const LISTENING = { ...WAITING, firstListensFor: 'opened', listensFor: ['opened', 'called'] }

const live = (event: string, input: Parameters<typeof eventFact>[2] = {}, identity: object = ANN, keyed = true) =>
  track(businessId, eventFact(event, identity, input), keyed)
const rows = () => stack.sql<{ contact_id: string; enrolment_id: string; due_at: number; awaited_at: number | null }[]>`
  select contact_id, enrolment_id, step, version, began_at, due_at, listens_for, awaited_at, held, claim
  from due_steps where business_id = ${businessId} order by began_at`

describe('the first step', () => {
  it('is due at once, from the receipt on, and knows its event', async () => {
    await insertCampaign(stack.sql, businessId, LISTENING)
    await pipeline.apply(live('signup', { occurredAt: NOW - 5000, properties: '{"plan":"pro"}' }))
    expect(await rows()).toMatchObject([
      { step: 'a', version: 1, began_at: NOW, due_at: NOW, listens_for: 'opened', awaited_at: null, held: false },
    ])
    const [enrolment] = await stack.sql`
      select version, event_name, event_properties from enrolments where business_id = ${businessId}`
    expect(enrolment).toEqual({ version: 1, event_name: 'signup', event_properties: '{"plan":"pro"}' })
  })

  it('is none in a campaign without steps, whose contacts stay active', async () => {
    await insertCampaign(stack.sql, businessId, { ...WAITING, firstStep: null })
    await pipeline.apply(live('signup'))
    expect(await rows()).toEqual([])
    const [enrolment] =
      await stack.sql`select version, state, event_name from enrolments where business_id = ${businessId}`
    expect(enrolment).toEqual({ version: null, state: 'active', event_name: null })
  })

  it('is none when the goal was reached already, in the same micro-batch or before', async () => {
    await insertCampaign(stack.sql, businessId, WAITING)
    await pipeline.apply(live('signup'), live('paid'))
    await pipeline.apply(live('paid', {}, { email: 'bob@x.io' }))
    await pipeline.apply(live('signup', {}, { email: 'bob@x.io' }))
    expect(await rows()).toEqual([])
  })

  it('knows of a page only words that are harmless', async () => {
    await insertCampaign(stack.sql, businessId, WAITING)
    const properties = {
      plan: 'pro',
      seats: 5,
      link: 'https://evil.example',
      host: 'www.evil.example',
      markup: '<b>',
      lines: 'a\nb',
      long: 'x'.repeat(101),
      short: 'x'.repeat(100),
      list: ['a', '<b>', { 'b://': 'c', c: 'd' }],
      none: null,
    }
    await pipeline.apply(live('signup', { properties: JSON.stringify(properties) }, ANN, false))
    const [enrolment] = await stack.sql<{ event_properties: string }[]>`
      select event_properties from enrolments where business_id = ${businessId}`
    expect(JSON.parse(enrolment!.event_properties)).toEqual({
      plan: 'pro',
      seats: 5,
      short: 'x'.repeat(100),
      list: ['a', { c: 'd' }],
    })
  })
})

describe('an awaited event', () => {
  const awaited = async () => (await rows()).map(({ awaited_at, due_at }) => [awaited_at, due_at])
  beforeEach(async () => {
    await insertCampaign(stack.sql, businessId, LISTENING)
    await pipeline.apply(live('signup'))
    // As after a while, when nothing is due yet.
    await stack.sql`update due_steps set due_at = ${NOW + 9000} where business_id = ${businessId}`
  })

  it('makes the step due at its own instant, of a batch, too', async () => {
    await pipeline.apply(batch(businessId, [eventFact('opened', ANN, { occurredAt: NOW })]))
    expect(await awaited()).toEqual([[NOW, NOW]])
  })

  it('counts from its first one on', async () => {
    await pipeline.apply(live('opened', { occurredAt: NOW + 3 }), live('opened', { occurredAt: NOW + 2 }))
    await pipeline.apply(live('opened', { occurredAt: NOW + 4 }))
    expect(await awaited()).toEqual([[NOW + 2, NOW + 2]])
  })

  it('is not one of another name, another contact, or before the step', async () => {
    await pipeline.apply(
      live('called'),
      live('opened', { occurredAt: NOW - 1 }),
      live('opened', {}, { email: 'b@x.io' }),
    )
    expect(await awaited()).toEqual([[null, NOW + 9000]])
  })

  it('counts from its first one after the beginning on, with others before and after it in one save', async () => {
    await pipeline.apply(...[-1, 7000, 5].map((more) => live('opened', { occurredAt: NOW + more })))
    expect(await awaited()).toEqual([[NOW + 5, NOW + 5]])
  })

  it('is recorded for a former version, and while the campaign is paused', async () => {
    const [{ id }] = await stack.sql<[{ id: string }]>`
      update campaigns set status = 'paused', version = 2 where business_id = ${businessId} returning id`
    await stack.sql`
      insert into campaign_versions (business_id, campaign_id, version, definition, first_step)
      values (${businessId}, ${id}, 2, '{}', 'b')`
    await stack.sql`update businesses set config_version = config_version + 1 where id = ${businessId}`
    await pipeline.apply(live('opened'), live('signup', {}, { email: 'b@x.io' }))
    // The second contact is not enrolled.
    expect(await awaited()).toEqual([[NOW, NOW]])
  })

  it('is recorded in the very save that enrols', async () => {
    const bob = { email: 'bob@x.io' }
    await pipeline.apply(live('signup', {}, bob), live('opened', {}, bob))
    expect(await awaited()).toEqual([
      [null, NOW + 9000],
      [NOW, NOW],
    ])
  })

  it('is the one that enrols, too, where it is dated at the beginning', async () => {
    const listening = { ...LISTENING, trigger: 'called', firstListensFor: 'called' }
    await insertCampaign(stack.sql, businessId, listening)
    await pipeline.apply(live('called', { occurredAt: NOW - 1 }, { email: 'bob@x.io' }), live('called'))
    expect(new Set(await awaited())).toEqual(
      new Set([
        [null, NOW],
        [null, NOW + 9000],
        [NOW, NOW],
      ]),
    )
  })

  it('gives way to the goal', async () => {
    await pipeline.apply(live('paid'), live('opened'))
    expect(await rows()).toEqual([])
  })
})

describe('the row', () => {
  beforeEach(async () => {
    await insertCampaign(stack.sql, businessId, WAITING)
    await pipeline.apply(live('signup'))
  })

  it('goes with the goal, and with a goal that is dated earlier', async () => {
    await pipeline.apply(live('paid', { occurredAt: NOW - 1 }))
    expect(await rows()).toEqual([])
    const [enrolment] = await stack.sql`select state, event_name from enrolments where business_id = ${businessId}`
    expect(enrolment).toEqual({ state: 'stopped', event_name: null })
  })

  it('stays with a message under way, until that is settled', async () => {
    await stack.sql`update due_steps set message_id = gen_random_uuid() where business_id = ${businessId}`
    await pipeline.apply(live('paid'))
    expect(await rows()).toHaveLength(1)
  })

  it('moves to the survivor of a merge; of two in one campaign the earlier enrolment keeps its own', async () => {
    const phone = { phone: '972500000001' }
    const [before] = await rows()
    await pipeline.apply(live('signup', { occurredAt: NOW - 100 }, phone))
    const all = await rows()
    const later = all.find(({ enrolment_id }) => enrolment_id !== before!.enrolment_id)
    await pipeline.apply(live('joined', {}, { ...ANN, ...phone }))
    const [left, ...more] = await rows()
    expect(more).toEqual([])
    expect(left).toMatchObject({ contact_id: before!.contact_id, enrolment_id: later!.enrolment_id })
  })

  it('goes with an erasure, which keeps the counts', async () => {
    const [row] = await rows()
    await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId: row!.contact_id })
    expect(await rows()).toEqual([])
    const counted = await stack.sql`select state, enrolled_at from erased_enrolments where business_id = ${businessId}`
    expect(counted).toEqual([{ state: 'stopped', enrolled_at: NOW - (NOW % 3_600_000) }])
  })

  it('records no event of a browser without a contact', async () => {
    await pipeline.apply(browser(businessId, browserFact('opened', 'a'.repeat(32))))
    expect(await rows()).toHaveLength(1)
  })
})
