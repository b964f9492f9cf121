/** Topics of messages: what a publish asks for, and what a claim decides. */
import { beforeEach, describe, expect, it } from 'vitest'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { readToken } from '../../src/messages/unsubscribe/token.ts'
import type { CheckedSend } from '../../src/rules/campaigns/checked-send.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { NOW, type Pipeline, type RequestContext } from '../support/facts.ts'
import type { Stack } from '../support/stack.ts'
import { addTopics } from '../support/topics.ts'
import { ANN, DAY, type Engine, type Shop } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
useEngineLab((lab) => ({ stack, pipeline, engine, shop } = lab))

let template: string
beforeEach(async () => {
  template = await shop.template()
})
const add = () => addTopics(stack.sql, shop.businessId, { news: {}, offers: { defaultOn: true, channels: ['email'] } })
const send = (id: string, more: object = {}) => ({ id, type: 'send', channel: 'email', template, ...more })
const choose = (contactId: string, topic: string, subscribed: boolean, at = NOW): RequestContext => ({
  kind: 'subscribe',
  businessId: shop.businessId,
  receivedAt: at,
  contactId,
  channels: {},
  topics: [{ topic, channel: 'email', subscribed }],
  method: 'form',
})
async function signUp(): Promise<string> {
  const [seen] = await pipeline.apply(shop.live('seen'))
  const { contactId } = seen as TrackAnswer
  await shop.optIn(contactId)
  return contactId
}
const start = () => pipeline.apply(shop.live('signup', ANN, engine.clock.now))
const sent = async () => {
  const rows = (await shop.messages()) as { step: string; state: string; reason: string | null; checked: CheckedSend }[]
  return rows.map(({ step, state, reason, checked }) => [step, reason ?? state, checked.topic])
}

describe('a publish', () => {
  const faultOf = async (steps: object[], more: Record<string, unknown> = {}) => {
    try {
      await shop.publish(steps, more)
      return null
    } catch (error) {
      const { faults } = JSON.parse((error as Error).message) as { faults?: { path: string; code: string }[] }
      return (faults ?? []).map(({ path, code }) => `${path} ${code}`)
    }
  }

  it('needs no topic where its channel has none, and one where it has an active one', async () => {
    expect(await faultOf([send('a')])).toBeNull()
    await add()
    expect(await faultOf([send('a'), send('b', { topic: 'news' })])).toEqual(['steps[0].topic topic_needed'])
    expect(await faultOf([send('a', { kind: 'transactional' })])).toBeNull()
    expect(await faultOf([send('a')], { topic: 'offers' })).toBeNull()
    const sms = { channel: 'sms', template: await shop.template('sms') }
    expect(await faultOf([send('a', sms)], { topic: 'offers' })).toEqual(['steps[0].topic topic_needed'])
    expect(await faultOf([send('a', { ...sms, topic: 'offers' })])).toEqual(['steps[0].topic topic_without'])
    await stack.sql`update topics set archived = true where business_id = ${shop.businessId} and key = 'news'`
    expect(await faultOf([send('a', sms)], { topic: 'offers' })).toBeNull()
    expect(await faultOf([send('a', { topic: 'news' })])).toEqual(['steps[0].topic topic_of_business'])
    expect(await faultOf([send('a')], { topic: 'none' })).toEqual([
      'topic topic_of_business',
      'steps[0].topic topic_needed',
    ])
    await stack.sql`update topics set archived = true where business_id = ${shop.businessId}`
    expect(await faultOf([send('a')])).toBeNull()
  })

  it('names no topic in a transactional message', async () => {
    await expect(shop.publish([send('a', { kind: 'transactional', topic: 'news' })])).rejects.toThrow('steps[0].topic')
  })
})

describe('a claim', () => {
  it('skips a message whose topic the contact does not get, and goes on', async () => {
    await add()
    await shop.publish([
      send('a', { topic: 'news' }),
      send('b', { topic: 'offers' }),
      send('c', { kind: 'transactional' }),
    ])
    const contactId = await signUp()
    await start()
    await engine.drain()
    const none = { at: null, method: null }
    expect(await sent()).toEqual([
      ['a', 'no_topic', { key: 'news', subscribed: false, from: 'default', ...none }],
      ['b', 'sent', { key: 'offers', subscribed: true, from: 'default', ...none }],
      ['c', 'sent', undefined],
    ])
    expect(await shop.enrolments()).toEqual(['finished'])
    expect(contactId).toBeTruthy()
  })

  it('sees a choice that was answered before it, also of a message that waits', async () => {
    await add()
    await shop.publish([send('a', { topic: 'news' }), { id: 'w', type: 'wait', for: 'P1D' }, send('b')], {
      topic: 'news',
    })
    const contactId = await signUp()
    await pipeline.apply(choose(contactId, 'news', true))
    await start()
    await engine.drain()
    await pipeline.apply(choose(contactId, 'news', false, NOW + 1))
    await engine.drain(NOW + DAY)
    const choice = (subscribed: boolean, at: number) => ({
      key: 'news',
      subscribed,
      from: 'choice',
      at,
      method: 'form',
    })
    expect(await sent()).toEqual([
      ['a', 'sent', choice(true, NOW)],
      ['b', 'no_topic', choice(false, NOW + 1)],
    ])
  })

  it('asks for both: without an opt-in to the channel, a choice opens nothing', async () => {
    await add()
    await shop.publish([send('a')], { topic: 'offers' })
    const contactId = await signUp()
    await shop.optIn(contactId, 'email', false)
    await pipeline.apply(choose(contactId, 'offers', true))
    await start()
    await engine.drain()
    expect((await sent()).map(([, state]) => state)).toEqual(['no_opt_in'])
  })

  it('goes on by the channel alone for what was published before, and reads no topic for it', async () => {
    await shop.publish([send('a')])
    await add()
    await signUp()
    await start()
    const statements: string[] = []
    const { sql } = engine.deps
    const before = sql.options.debug
    sql.options.debug = (_, query) => void statements.push(query)
    await engine.drain()
    sql.options.debug = before
    expect((await sent()).map(([, state, topic]) => [state, topic])).toEqual([['sent', undefined]])
    expect(statements.filter((one) => one.includes('topic_choices'))).toEqual([])
  })

  it('puts the topic into the link of its message', async () => {
    await add()
    template = await shop.template('email', '{{unsubscribeUrl}}')
    await shop.publish([send('a', { topic: 'offers' }), send('b', { kind: 'transactional' })])
    const contactId = await signUp()
    await start()
    await engine.drain()
    const key = await loadMessageKey(stack.sql)
    const tokens = (await shop.logged()).map(({ message }) => readToken(key, message['text']?.split('/u/')[1] ?? ''))
    const base = { businessId: shop.businessId, contactId, channel: 'email' }
    expect(tokens).toEqual([{ ...base, topic: 'offers' }, base])
  })
})
