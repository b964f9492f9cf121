/** From the live event to the message, and to the end of the enrolment. */
import { beforeEach, describe, expect, it } from 'vitest'
import { changeStatus } from '../../src/campaigns/change-status.ts'
import { endArchived } from '../../src/campaigns/engine/end-archived.ts'
import { settle } from '../../src/campaigns/engine/settle/settle.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { suppress } from '../../src/messages/suppressions/suppress.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { NOW, type Pipeline, batch, eventFact } from '../support/facts.ts'
import type { Stack } from '../support/stack.ts'
import { ACTOR, ANN, DAY, type Engine, HOUR, MINUTE, type Shop } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
useEngineLab((lab) => ({ stack, pipeline, engine, shop } = lab))

const contactOf = async (event = 'seen', identity: object = ANN): Promise<string> =>
  ((await pipeline.apply(shop.live(event, identity)))[0] as TrackAnswer).contactId

/** Signs up a person who has opted in to email. */
async function signUp(identity: object = ANN): Promise<string> {
  const contactId = await contactOf('seen', identity)
  await shop.optIn(contactId)
  await pipeline.apply(shop.live('signup', identity, engine.clock.now))
  return contactId
}
const send = (id: string, template: string, more: object = {}) => ({
  id,
  type: 'send',
  channel: 'email',
  template,
  ...more,
})
const wait = (id: string, time: string) => ({ id, type: 'wait', for: time })

describe('a series', () => {
  it('goes from the event to its end, each step at its instant', async () => {
    const template = await shop.template('email', 'Hello {{contact.email}} of {{event.name}} {{event.properties.plan}}')
    await shop.publish([send('a', template), wait('w', 'P3D'), send('b', template)])
    await shop.optIn(await contactOf())
    const signup = eventFact('signup', ANN, { properties: '{"plan":"pro"}' })
    await pipeline.apply({
      kind: 'track',
      businessId: shop.businessId,
      receivedAt: NOW,
      keyed: true,
      source: 'live',
      fact: signup,
    })
    await engine.drain()
    expect(await shop.states()).toEqual(['a sent'])
    expect(await shop.logged()).toMatchObject([
      { recipient: ANN.email, message: { subject: 'Hello ann@x.io of signup pro', language: 'en' } },
    ])
    expect(await shop.due()).toMatchObject([{ step: 'w', due_at: NOW + 3 * DAY }])
    await engine.drain(NOW + 3 * DAY - 1)
    expect(await shop.states()).toEqual(['a sent'])
    await engine.drain(NOW + 3 * DAY)
    expect(await shop.states()).toEqual(['a sent', 'b sent'])
    expect(await shop.enrolments()).toEqual(['finished'])
    expect(await shop.due()).toEqual([])
    const [message] = await shop.messages()
    expect(message).toMatchObject({
      sent_at: NOW,
      provider: 'log',
      template_version: 1,
      states: [
        { state: 'claimed', at: NOW },
        { state: 'sent', at: NOW },
      ],
      checked: { consent: { subscribed: true, method: 'form' }, suppressed: false, goalLastAt: null, zone: 'UTC' },
    })
    expect(JSON.parse(message!['values'] as string)).toMatchObject({
      contact: { email: ANN.email },
      event: { name: 'signup' },
    })
  })

  it('lets a contact in again once it has ended, though the workers knew it as active', async () => {
    await shop.publish([send('a', await shop.template())], { canEnterAgain: true })
    await signUp()
    await engine.drain()
    await pipeline.apply(shop.live('signup'))
    await engine.drain()
    expect(await shop.states()).toEqual(['a sent', 'a sent'])
    expect(await shop.enrolments()).toEqual(['finished', 'finished'])
  })

  it('goes by text message to the first phone, and by webhook to nobody in particular', async () => {
    const steps = [
      send('s', await shop.template('sms'), { channel: 'sms' }),
      send('h', await shop.template('webhook', '{"id":"{{contact.phone}}"}'), { channel: 'webhook' }),
    ]
    await shop.publish(steps)
    const contactId = await contactOf('seen', { phone: '972501234567' })
    await stack.sql`update identities set phone_read = true where contact_id = ${contactId}`
    await shop.optIn(contactId, 'sms')
    await pipeline.apply(shop.live('signup', { phone: '972501234567' }))
    await engine.drain()
    expect(await shop.states()).toEqual(['s sent', 'h sent'])
    expect((await shop.logged()).map(({ recipient }) => recipient)).toEqual(['+972501234567', null])
  })

  it('goes to the primary address; a suppressed one gives way to the next', async () => {
    const templates = { email: await shop.template(), sms: await shop.template('sms') }
    await shop.publish([send('a', templates.email), send('s', templates.sms, { channel: 'sms' })])
    const person = { ...ANN, phone: '972501234567', phoneRead: true }
    const contactId = await signUp(person)
    await shop.optIn(contactId, 'sms')
    await pipeline.apply(shop.live('seen', { ...ANN, phone: '972501234568', phoneRead: true }))
    await pipeline.apply(shop.live('seen', { email: 'second@x.io', phone: '972501234567' }))
    const key = await loadMessageKey(stack.sql)
    const items = [
      { channel: 'email' as const, address: ANN.email, reason: 'hard_bounce' as const },
      { channel: 'sms' as const, address: '972501234567', reason: 'stop' as const },
    ]
    await stack.sql.begin((tx) => suppress(tx, key, { businessId: shop.businessId, now: NOW }, items))
    await engine.drain()
    expect(await shop.states()).toEqual(['a sent', 's sent'])
    expect((await shop.logged()).map(({ recipient }) => recipient)).toEqual(['second@x.io', '+972501234568'])
  })

  it('goes to no address that was removed, and to no phone with an extension', async () => {
    const templates = { email: await shop.template(), sms: await shop.template('sms') }
    await shop.publish([send('a', templates.email), send('s', templates.sms, { channel: 'sms' })])
    const contactId = await signUp({ ...ANN, phone: '+12125550100;ext=5' })
    await shop.optIn(contactId, 'sms')
    await pipeline.apply({
      kind: 'edit',
      businessId: shop.businessId,
      receivedAt: NOW,
      contactId,
      fact: { profile: {}, traits: {}, addTags: [], removeTags: [], removed: { email: [ANN.email] }, warnings: [] },
    })
    await engine.drain()
    expect(await shop.states()).toEqual(['a skipped no_address', 's skipped no_address'])
  })

  it.each([
    [true, 'a skipped no_address'],
    [false, 'a sent'],
  ])('to an address that only a page has sent, when a keyed call has used the contact: %s', async (keyed, state) => {
    await shop.publish([send('a', await shop.template())])
    const contactId = await signUp()
    await stack.sql`update identities set proven = false where contact_id = ${contactId}`
    await stack.sql`update contacts set keyed = ${keyed} where id = ${contactId}`
    await engine.drain()
    expect(await shop.states()).toEqual([state])
  })

  it.each([
    [true, 'ann@x.io,'],
    [false, 'ann@x.io,+15005550006'],
  ])('shows no phone that only a page has sent, when a keyed call has used the contact: %s', async (keyed, shown) => {
    await shop.publish([send('a', await shop.template('email', '{{contact.email}},{{contact.phone}}'))])
    const contactId = await signUp()
    await stack.sql`
      insert into identities (business_id, contact_id, kind, value, position, proven, phone_read)
      values (${shop.businessId}, ${contactId}, 'phone', '15005550006', 5, false, true)`
    await stack.sql`update contacts set keyed = ${keyed} where id = ${contactId}`
    await engine.drain()
    expect((await shop.logged()).map(({ message }) => message['subject'])).toEqual([shown])
  })

  it('goes to the first address that is proven', async () => {
    await shop.publish([send('a', await shop.template())])
    const contactId = await signUp()
    await stack.sql`
      insert into identities (business_id, contact_id, kind, value, position, proven)
      values (${shop.businessId}, ${contactId}, 'email', 'page@x.io', -1, false)`
    await engine.drain()
    expect((await shop.logged()).map(({ recipient }) => recipient)).toEqual([ANN.email])
  })

  it('follows the version of the enrolment', async () => {
    const template = await shop.template()
    const id = await shop.publish([wait('w', 'PT1H'), send('old', template)])
    await signUp()
    await stack.sql`
      insert into campaign_versions (business_id, campaign_id, version, definition, first_step)
      select business_id, campaign_id, 2, jsonb_set(definition, '{steps,1,id}', '"new"'), 'w'
      from campaign_versions where campaign_id = ${id}`
    await stack.sql`update campaigns set version = 2 where id = ${id}`
    await stack.sql`update businesses set config_version = config_version + 1 where id = ${shop.businessId}`
    await signUp({ email: 'bob@x.io' })
    await engine.drain()
    await engine.drain(NOW + HOUR)
    expect((await shop.states()).toSorted()).toEqual(['new sent', 'old sent'])
  })
})

describe('a message is not sent', () => {
  const skipped = async (steps: (template: string) => object[], more: Record<string, unknown> = {}) => {
    await shop.publish(steps(await shop.template()), more)
    return shop.states()
  }

  it('without an opt-in, unless it is transactional', async () => {
    await skipped((template) => [send('a', template), send('b', template, { kind: 'transactional' })])
    await pipeline.apply(shop.live('signup'))
    await engine.drain()
    expect(await shop.states()).toEqual(['a skipped no_opt_in', 'b sent'])
  })

  it('after an opt-out', async () => {
    await skipped((template) => [wait('w', 'PT1H'), send('a', template)])
    const contactId = await signUp()
    await shop.optIn(contactId, 'email', false)
    await engine.drain()
    await engine.drain(NOW + HOUR)
    expect(await shop.states()).toEqual(['a skipped no_opt_in'])
    expect(await shop.enrolments()).toEqual(['finished'])
  })

  it('without an address', async () => {
    await skipped((template) => [send('a', template, { kind: 'transactional' })])
    await pipeline.apply(shop.live('signup', { platformCustomerId: '7' }))
    await engine.drain()
    expect(await shop.states()).toEqual(['a skipped no_address'])
  })

  it('to a suppressed address, transactional ones included', async () => {
    await skipped((template) => [send('a', template), send('b', template, { kind: 'transactional' })])
    const sms = await shop.template('sms')
    await shop.publish([send('s', sms, { channel: 'sms', kind: 'transactional' })], { trigger: 'called' })
    const key = await loadMessageKey(stack.sql)
    const items = [
      { channel: 'email' as const, address: ANN.email, reason: 'hard_bounce' as const },
      { channel: 'sms' as const, address: '972501234567', reason: 'stop' as const },
    ]
    await stack.sql.begin((tx) => suppress(tx, key, { businessId: shop.businessId, now: NOW }, items))
    await signUp()
    const contactId = await contactOf('seen', { phone: '972501234567' })
    await stack.sql`update identities set phone_read = true where contact_id = ${contactId}`
    await pipeline.apply(shop.live('called', { phone: '972501234567' }))
    await engine.drain()
    expect((await shop.states()).toSorted()).toEqual([
      'a skipped suppressed',
      'b skipped suppressed',
      's skipped suppressed',
    ])
  })

  it('to those who are held out, who go through all steps', async () => {
    await skipped((template) => [send('a', template), send('b', template)], { holdOut: 50 })
    for (let n = 0; n < 20; n += 1) await signUp({ email: `p${n}@x.io` })
    await engine.drain()
    const states = await shop.states()
    expect(states).toHaveLength(40)
    expect(new Set(states)).toEqual(new Set(['a sent', 'b sent', 'a skipped held_out', 'b skipped held_out']))
    expect(new Set(await shop.enrolments())).toEqual(new Set(['finished']))
  })

  it('when its template fails', async () => {
    const template = await shop.template('webhook', '{"a":{{event.properties.a}}}')
    await shop.publish([send('a', template, { channel: 'webhook' }), send('b', await shop.template())])
    await signUp()
    await engine.drain()
    expect(await shop.states()).toEqual(['a failed template_failed', 'b sent'])
  })
})

describe('quiet hours', () => {
  const NIGHT = Date.parse('2026-11-20T22:00:00Z')
  const MORNING = Date.parse('2026-11-21T09:00:00Z')
  beforeEach(() => (engine.clock.now = NIGHT))

  it('do not hold the first message, and hold every other one until they end', async () => {
    const template = await shop.template()
    await shop.publish([send('a', template), send('b', template)])
    await signUp()
    await engine.drain()
    expect(await shop.states()).toEqual(['a sent'])
    expect(await shop.due()).toMatchObject([{ step: 'b', due_at: MORNING }])
    await engine.drain(MORNING)
    expect(await shop.states()).toEqual(['a sent', 'b sent'])
  })

  it('are local, and can be others or none', async () => {
    const template = await shop.template()
    const steps = [wait('w', 'PT1M'), send('a', template)]
    await shop.publish(steps, { quietHours: null })
    await shop.publish([wait('w', 'PT1M'), send('b', template)], { quietHours: { from: '10:00', to: '23:30' } })
    await shop.publish([wait('w', 'PT1M'), send('c', template)])
    const contactId = await signUp()
    await stack.sql`update contacts set timezone = 'America/New_York' where id = ${contactId}`
    await engine.drain()
    await engine.drain(NIGHT + MINUTE)
    // It is 17:01 in New York.
    expect((await shop.states()).toSorted()).toEqual(['a sent', 'c sent'])
    expect(await shop.due()).toMatchObject([{ step: 'b', due_at: Date.parse('2026-11-21T04:30:00Z') }])
  })

  describe('follow the zone of the contact while it waits', () => {
    const until = (time: string) => ({ id: 'u', type: 'wait_until', time })
    const setZone = (contactId: string, timezone: string | null) =>
      pipeline.apply({
        kind: 'edit',
        businessId: shop.businessId,
        receivedAt: engine.clock.now,
        contactId,
        fact: { profile: { timezone }, traits: {}, addTags: [], removeTags: [], warnings: [] },
      })
    const dueAt = async () => (await shop.due()).map(({ due_at: at }) => at)

    it('to a time that comes earlier, later, or is past', async () => {
      await shop.publish([until('09:00'), send('a', await shop.template())], { quietHours: null })
      const contactId = await signUp()
      await engine.drain()
      expect(await dueAt()).toEqual([Date.parse('2026-11-21T09:00:00Z')])
      await setZone(contactId, 'Asia/Tokyo')
      await engine.drain()
      expect(await dueAt()).toEqual([Date.parse('2026-11-21T00:00:00Z')])
      await setZone(contactId, null)
      await engine.drain()
      expect(await dueAt()).toEqual([Date.parse('2026-11-21T09:00:00Z')])
      engine.clock.now = Date.parse('2026-11-21T00:00:01Z')
      await setZone(contactId, 'Asia/Tokyo')
      await engine.drain()
      expect(await shop.states()).toEqual(['a sent'])
    })

    it('out of quiet hours, and in no pause', async () => {
      const campaignId = await shop.publish([wait('w', 'PT1M'), send('a', await shop.template())])
      const contactId = await signUp()
      await engine.drain()
      await engine.drain(NIGHT + MINUTE)
      const change = (to: 'pause' | 'resume') =>
        changeStatus(stack.sql, { businessId: shop.businessId, actor: ACTOR }, campaignId, to)
      await change('pause')
      await setZone(contactId, 'America/New_York')
      await engine.drain()
      expect(await shop.states()).toEqual([])
      await change('resume')
      await engine.drain()
      expect(await shop.states()).toEqual(['a sent'])
    })

    it('by a merge, too', async () => {
      await shop.publish([until('09:00'), send('a', await shop.template())], { quietHours: null })
      const other = await contactOf('seen', { platformCustomerId: 'c-1' })
      await setZone(other, 'Asia/Tokyo')
      await stack.sql`update contacts set created_at = created_at - 1000 where id = ${other}`
      await signUp()
      await engine.drain()
      await contactOf('seen', { ...ANN, platformCustomerId: 'c-1' })
      await engine.drain()
      expect(await dueAt()).toEqual([Date.parse('2026-11-21T00:00:00Z')])
    })
  })
})

describe('caps', () => {
  const cap = (more: object = {}) => [{ channel: 'email', atMost: 1, days: 1, ...more }]

  it('hold a message until the oldest one falls out, over all campaigns', async () => {
    const template = await shop.template()
    await shop.publish([send('a', template)], { caps: cap() })
    await shop.publish([send('b', template)], { caps: cap() })
    await signUp()
    await engine.drain()
    expect((await shop.states()).map((one) => one.slice(2))).toEqual(['sent'])
    expect(await shop.due()).toMatchObject([{ due_at: NOW + DAY }])
    await engine.drain(NOW + DAY)
    expect((await shop.states()).toSorted()).toEqual(['a sent', 'b sent'])
  })

  it('skip it, if the cap says so, and know nothing of what was skipped', async () => {
    const template = await shop.template()
    const steps = [send('a', template), send('b', template), send('c', template, { kind: 'transactional' })]
    await shop.publish(steps, { caps: cap({ whenReached: 'skip' }) })
    await signUp()
    await engine.drain()
    expect(await shop.states()).toEqual(['a sent', 'b skipped cap', 'c sent'])
  })

  it('count a message that is tried again once, by the campaigns of the same claim, too', async () => {
    const template = await shop.template()
    await shop.publish([send('a', template)])
    await shop.publish([wait('w', 'PT1M'), send('b', template)], { caps: cap({ atMost: 2 }) })
    await signUp()
    const [first] = await engine.claim()
    await settle(engine.deps, first!, { outcome: { kind: 'temporary' }, provider: null, from: null, rendered: null })
    await engine.drain(NOW + MINUTE)
    expect(await shop.states()).toEqual(['a sent', 'b sent'])
  })
})

describe('a step that chooses', () => {
  it('takes the branch of the facts of that instant', async () => {
    const template = await shop.template()
    const rule = { event: 'paid', metric: 'count', operator: 'greater_than_or_equal', value: 1 }
    const branch = { id: 'q', type: 'branch', rule, steps: [send('yes', template)], otherwise: [send('no', template)] }
    await shop.publish([wait('w', 'PT1H'), branch])
    await signUp()
    await signUp({ email: 'bob@x.io' })
    await engine.drain()
    await pipeline.apply(shop.live('paid'))
    await engine.drain(NOW + HOUR)
    expect((await shop.states()).toSorted()).toEqual(['no sent', 'yes sent'])
  })

  it('takes one part of a split, the same one for the same person', async () => {
    const template = await shop.template()
    const parts = [
      { percent: 50, steps: [send('x', template)] },
      { percent: 50, steps: [send('y', template), { id: 'e', type: 'exit' }] },
    ]
    await shop.publish([{ id: 's', type: 'split', parts }, send('z', template)])
    for (let n = 0; n < 12; n += 1) await signUp({ email: `p${n}@x.io` })
    await engine.drain()
    const states = await shop.states()
    const count = (id: string) => states.filter((one) => one === `${id} sent`).length
    expect(count('x') + count('y')).toBe(12)
    expect(count('x')).toBeGreaterThan(0)
    expect(count('y')).toBeGreaterThan(0)
    expect(count('z')).toBe(count('x'))
  })
})

describe('a wait for an event', () => {
  const waitFor = (template: string) => [
    {
      id: 'f',
      type: 'wait_for',
      event: 'opened',
      timeout: 'P1D',
      steps: [send('yes', template)],
      otherwise: [send('no', template)],
    },
    send('after', template),
  ]

  it('ends with the event, of a batch, too, and with the time-out', async () => {
    await shop.publish(waitFor(await shop.template()), { quietHours: null })
    await signUp()
    await signUp({ email: 'bob@x.io' })
    await engine.drain()
    expect(await shop.due()).toMatchObject([{ due_at: NOW + DAY }, { due_at: NOW + DAY }])
    engine.clock.now = NOW + HOUR
    await pipeline.apply(batch(shop.businessId, [eventFact('opened', ANN, { occurredAt: NOW + HOUR })]))
    await engine.drain()
    expect(await shop.states()).toEqual(['yes sent', 'after sent'])
    await engine.drain(NOW + DAY)
    expect(await shop.states()).toEqual(['yes sent', 'after sent', 'no sent', 'after sent'])
  })

  it('takes the earlier of both, whenever the worker comes', async () => {
    await shop.publish(waitFor(await shop.template()), { quietHours: null })
    await signUp()
    await signUp({ email: 'bob@x.io' })
    await engine.drain()
    engine.clock.now = NOW + 2 * DAY
    await pipeline.apply(shop.live('opened', ANN, NOW + DAY + 1))
    await pipeline.apply(shop.live('opened', { email: 'bob@x.io' }, NOW + DAY))
    await engine.drain()
    expect((await shop.states()).toSorted()).toEqual(['after sent', 'after sent', 'no sent', 'yes sent'])
  })

  it('counts its own event, not that of a wait before it that began in the same millisecond', async () => {
    const waits = ['signup', 'opened'].map((event) => ({ id: event, type: 'wait_for', event, timeout: 'P1D' }))
    await shop.publish([...waits, send('after', await shop.template())], { quietHours: null })
    await signUp()
    await engine.drain()
    expect(await shop.states()).toEqual([])
    expect(await shop.due()).toMatchObject([{ step: 'opened', due_at: NOW + DAY }])
  })

  it('knows of an event that was recorded while the worker was on its way to it', async () => {
    const template = await shop.template()
    await shop.publish([wait('w', 'PT1H'), ...waitFor(template)], { quietHours: null })
    await signUp()
    await engine.drain()
    engine.clock.now = NOW + HOUR
    await pipeline.apply(shop.live('opened', ANN, NOW + HOUR))
    await engine.drain()
    expect(await shop.states()).toEqual(['yes sent', 'after sent'])
  })
})

describe('a status', () => {
  const change = (id: string, to: 'pause' | 'resume' | 'archive') =>
    changeStatus(stack.sql, { businessId: shop.businessId, actor: ACTOR }, id, to)

  it('paused holds what falls due, counts goals, and lets nobody in; resumed, all is done at once', async () => {
    const template = await shop.template()
    const id = await shop.publish([wait('w', 'PT1H'), send('a', template)], { goal: 'paid' })
    await signUp()
    await signUp({ email: 'bob@x.io' })
    await engine.drain()
    await change(id, 'pause')
    await signUp({ email: 'late@x.io' })
    await engine.drain(NOW + 2 * HOUR)
    expect(await shop.states()).toEqual([])
    expect(await shop.due()).toMatchObject([{ held: true }, { held: true }])
    await pipeline.apply(shop.live('paid', { email: 'bob@x.io' }))
    expect((await shop.enrolments()).toSorted()).toEqual(['active', 'converted'])
    await change(id, 'resume')
    await engine.drain()
    expect(await shop.states()).toEqual(['a sent'])
    await engine.drain(NOW + 9 * HOUR)
    expect(await shop.states()).toEqual(['a sent'])
  })

  it('archived sends nothing, and ends all as stopped', async () => {
    const template = await shop.template()
    const id = await shop.publish([wait('w', 'PT1H'), send('a', template)])
    for (let n = 0; n < 3; n += 1) await signUp({ email: `p${n}@x.io` })
    await engine.drain()
    await change(id, 'archive')
    await engine.drain(NOW + HOUR)
    while (await endArchived(engine.deps));
    expect(await shop.states()).toEqual([])
    expect(await shop.enrolments()).toEqual(['stopped', 'stopped', 'stopped'])
    expect(await shop.due()).toEqual([])
    const [campaign] = await stack.sql`select status, ending from campaigns where id = ${id}`
    expect(campaign).toEqual({ status: 'archived', ending: false })
  })
})

describe('a merge during a wait', () => {
  it('moves the enrolment: one message goes to the survivor', async () => {
    await shop.publish([wait('w', 'PT1H'), send('a', await shop.template())])
    await signUp()
    const phone = { phone: '972501234567' }
    await pipeline.apply(shop.live('signup', phone))
    await engine.drain()
    await pipeline.apply(shop.live('joined', { ...ANN, ...phone }))
    await engine.drain(NOW + HOUR)
    expect(await shop.states()).toEqual(['a sent'])
    expect((await shop.enrolments()).toSorted()).toEqual(['finished', 'merged'])
  })
})
