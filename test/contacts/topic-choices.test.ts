/** Choices of topics: order, retries, merges, moves and erasures (topics, "Topics and the preference centre"). */
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Channel } from '../../src/rules/events/facts.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
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
import { addTopics } from '../support/topics.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
let ann: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
  await addTopics(stack.sql, businessId, { news: { defaultOn: false }, offers: { defaultOn: true } })
  ann = await newContact('ann@x.io')
})

async function newContact(email: string, of = businessId): Promise<string> {
  const [answer] = await pipeline.apply(track(of, eventFact('seen', { email })))
  return (answer as TrackAnswer).contactId
}

interface Choice {
  topic: string
  channel: Channel
  subscribed: boolean
}
const choose = (topics: Choice[], more: object = {}, contactId = ann): RequestContext => ({
  kind: 'subscribe',
  businessId,
  receivedAt: NOW,
  contactId,
  channels: {},
  topics,
  method: 'form',
  ...more,
})
const news = (subscribed: boolean, channel: Channel = 'email'): Choice => ({ topic: 'news', channel, subscribed })
const offers = (subscribed: boolean): Choice => ({ topic: 'offers', channel: 'email', subscribed })
const choicesOf = async (id = ann) => {
  const rows = await stack.sql<{ topic: string; channel: string; subscribed: boolean; method: string; at: number }[]>`
    select topic, channel, subscribed, method, recorded_at as at from topic_choices where contact_id = ${id} order by 1, 2`
  return rows.map((one) => [one.topic, one.channel, one.subscribed, one.method, one.at])
}
const historyOf = async (id = ann) => {
  const rows = await stack.sql<{ topic: string; channel: string; subscribed: boolean; at: number }[]>`
    select topic, channel, subscribed, recorded_at as at from topic_history where contact_id = ${id} order by recorded_at, id`
  return rows.map((one) => [one.topic, one.channel, one.subscribed, one.at])
}

describe('a choice', () => {
  it('is of one topic and one channel, and the latest to arrive counts', async () => {
    await pipeline.apply(choose([news(true), news(false, 'sms'), offers(false)]))
    await pipeline.apply(choose([news(false)], { receivedAt: NOW + 1, method: 'page' }))
    expect(await choicesOf()).toEqual([
      ['news', 'email', false, 'page', NOW + 1],
      ['news', 'sms', false, 'form', NOW],
      ['offers', 'email', false, 'form', NOW],
    ])
    expect(await historyOf()).toHaveLength(4)
  })

  it('refuses the whole request where a topic is unknown, or lacks the channel', async () => {
    const [unknown] = await pipeline.apply(choose([news(true), { topic: 'none', channel: 'email', subscribed: true }]))
    expect(unknown).toMatchObject({ issues: [{ path: 'topics.none', code: 'topic_unknown' }] })
    const [without] = await pipeline.apply(choose([news(true), news(true, 'push')], { channels: { email: true } }))
    expect(without).toMatchObject({ issues: [{ path: 'topics.news.push', code: 'topic_without' }] })
    expect(await choicesOf()).toEqual([])
    expect(await stack.sql`select from subscriptions where contact_id = ${ann}`).toHaveLength(0)
  })

  it('warns where its channel has no opt-in, and neither opens nor ends the channel', async () => {
    const [first] = await pipeline.apply(choose([news(true)]))
    expect((first as { warnings: string[] }).warnings).toHaveLength(1)
    expect(first).toMatchObject({ subscriptions: { email: false } })
    const [second] = await pipeline.apply(choose([news(false), offers(false)], { channels: { email: true } }))
    expect(second).toEqual({ contactId: ann, subscriptions: { email: true, sms: false, whatsapp: false, push: false } })
  })

  it('that leaves the last topic of a channel ends the channel, where that is asked for', async () => {
    const leave = (...topics: Choice[]) => choose(topics, { changesOnly: true, endsLast: true, method: 'one click' })
    await pipeline.apply(choose([news(true)], { channels: { email: true, sms: true } }))
    expect(await pipeline.apply(leave(news(false)))).toMatchObject([{ subscriptions: { email: true } }])
    expect(await pipeline.apply(leave(offers(false)))).toMatchObject([{ subscriptions: { email: false, sms: true } }])
    expect(await choicesOf()).toHaveLength(2)
  })

  it('is recorded for an archived topic, which does not count as another one', async () => {
    await stack.sql`update topics set archived = true where business_id = ${businessId} and key = 'offers'`
    await stack.sql`update businesses set config_version = config_version + 1 where id = ${businessId}`
    await pipeline.apply(choose([news(true), offers(true)], { channels: { email: true } }))
    const [left] = await pipeline.apply(choose([news(false)], { endsLast: true }))
    expect(left).toMatchObject({ subscriptions: { email: false } })
    expect(await choicesOf()).toHaveLength(2)
  })

  it('that answers a question stays behind a choice that was made since', async () => {
    await pipeline.apply(choose([news(false)], { receivedAt: NOW + 10 }))
    await pipeline.apply(choose([news(true), offers(true)], { receivedAt: NOW + 20, topicsAskedAt: NOW + 5 }))
    expect((await choicesOf()).map(([topic, , is]) => [topic, is])).toEqual([
      ['news', false],
      ['offers', true],
    ])
  })

  it('goes with an erasure, and its history, too', async () => {
    await pipeline.apply(choose([news(true)]))
    await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId: ann })
    expect([await choicesOf(), await historyOf()]).toEqual([[], []])
  })
})

describe('a merge', () => {
  const mergeWith = (email: string) =>
    pipeline.apply(
      identify(businessId, identifyFact({ email: 'ann@x.io', platformCustomerId: '7' })),
      identify(businessId, identifyFact({ email, platformCustomerId: '7' })),
    )

  it('keeps opt-outs, and unites the histories', async () => {
    const bob = await newContact('bob@x.io')
    await pipeline.apply(choose([news(true), offers(false)]))
    await pipeline.apply(choose([news(false), news(true, 'sms'), offers(true)], { receivedAt: NOW + 1 }, bob))
    await mergeWith('bob@x.io')
    expect((await choicesOf()).map(([topic, channel, is]) => [topic, channel, is])).toEqual([
      ['news', 'email', false],
      ['news', 'sms', true],
      ['offers', 'email', false],
    ])
    expect(await historyOf()).toHaveLength(5)
    expect([await choicesOf(bob), await historyOf(bob)]).toEqual([[], []])
  })

  it('with a choice in the same micro-batch ends as the order of the calls says', async () => {
    const bob = await newContact('bob@x.io')
    await pipeline.apply(choose([news(false)], {}, bob))
    await pipeline.apply(
      identify(businessId, identifyFact({ email: 'ann@x.io', platformCustomerId: '7' })),
      identify(businessId, identifyFact({ email: 'bob@x.io', platformCustomerId: '7' })),
      choose([news(true)], { receivedAt: NOW + 1 }),
    )
    expect(await choicesOf()).toEqual([['news', 'email', true, 'form', NOW + 1]])
  })
})

it('an opt-out moves with an address that another contact takes', async () => {
  const unproven = { ...identify(businessId, identifyFact({ email: 'eve@x.io' })), keyed: false }
  const [made] = await pipeline.apply(unproven)
  const { contactId: eve } = made as { contactId: string }
  await pipeline.apply(choose([news(false), news(false, 'sms'), offers(true)], {}, eve))
  await pipeline.apply(identify(businessId, identifyFact({ platformCustomerId: '9' })))
  const [moved] = await pipeline.apply(
    identify(businessId, identifyFact({ platformCustomerId: '9', email: 'eve@x.io' })),
  )
  const { contactId } = moved as { contactId: string }
  expect(contactId).not.toBe(eve)
  expect(await choicesOf(contactId)).toEqual([['news', 'email', false, 'form', NOW]])
})

describe('past choices', () => {
  interface Past extends Choice {
    at: number
    contact: number
  }
  const past: fc.Arbitrary<Past> = fc.record({
    topic: fc.constantFrom('news', 'offers'),
    channel: fc.constantFrom<Channel[]>('email', 'sms'),
    subscribed: fc.boolean(),
    at: fc.integer({ min: 1, max: 4 }),
    contact: fc.nat(1),
  })

  /** Applies the choices with the merge at this place. Returns what is left. */
  async function apply(choices: readonly Past[], mergeAt: number) {
    const { businessId: own } = await createBusiness(stack.sql)
    await addTopics(stack.sql, own, { news: { defaultOn: false }, offers: { defaultOn: true } })
    const tag = randomUUID()
    const ids = [await newContact(`a-${tag}@x.io`, own), await newContact(`b-${tag}@x.io`, own)]
    const merge = () =>
      pipeline.apply(
        ...['a', 'b'].map((one) =>
          identify(own, identifyFact({ email: `${one}-${tag}@x.io`, platformCustomerId: '1' })),
        ),
      )
    for (const [place, { at, contact, ...choice }] of choices.entries()) {
      if (place === mergeAt) await merge()
      const request = { ...choose([choice], { at, receivedAt: NOW }, ids[contact]), businessId: own }
      await pipeline.apply(request)
    }
    if (mergeAt >= choices.length) await merge()
    const [survivor = ''] = ids
    return { choices: await choicesOf(survivor), history: (await historyOf(survivor)).map(String).toSorted() }
  }

  it('end the same in any order and however often they arrive', async () => {
    const shuffled = fc
      .array(past, { minLength: 1, maxLength: 6 })
      .chain((list) =>
        fc.tuple(fc.constant(list), fc.shuffledSubarray([...list, ...list], { minLength: 2 * list.length })),
      )
    await fc.assert(
      fc.asyncProperty(shuffled, async ([list, again]) => {
        const merged = (choices: readonly Past[]) =>
          apply(
            choices.map((one) => ({ ...one, contact: 0 })),
            Infinity,
          )
        expect(await merged(again)).toEqual(await merged(list))
      }),
      { numRuns: runs(8), endOnFailure: true },
    )
  })

  it('leave an opt-out, of two contacts, of the merge that none of the survivor is later than', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(past, { minLength: 1, maxLength: 6 }), async (list) => {
        const { choices, history } = await apply(list, Infinity)
        const latest = (contact: number, of: Past) =>
          list
            .filter((one) => one.contact === contact && one.topic === of.topic && one.channel === of.channel)
            .toSorted((a, b) => b.at - a.at || Number(a.subscribed) - Number(b.subscribed))[0]
        for (const one of list) {
          const both = [0, 1].flatMap((contact) => latest(contact, one) ?? [])
          const [, , is] = choices.find(([topic, channel]) => topic === one.topic && channel === one.channel) ?? []
          expect(is).toBe(both.every(({ subscribed }) => subscribed))
        }
        const distinct = new Set(list.map((one) => JSON.stringify(one)))
        expect(history).toHaveLength(distinct.size)
      }),
      { numRuns: runs(8), endOnFailure: true },
    )
  })
})
