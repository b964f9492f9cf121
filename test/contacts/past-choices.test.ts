/** Choices of the past: the latest counts, in any order and however often they arrive. */
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS, type Channel } from '../../src/rules/events/facts.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { insertSegment, membersOf } from '../segments/segments-support.ts'
import { NOW, type Pipeline, type RequestContext, eventFact, openPipeline, track } from '../support/facts.ts'
import { runs } from '../support/runs.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
let contactId: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
  contactId = await newContact('ann@x.io')
})

async function newContact(email: string): Promise<string> {
  const [answer] = await pipeline.apply(track(businessId, eventFact('seen', { email })))
  return (answer as TrackAnswer).contactId
}

interface Choice {
  channel: Channel
  subscribed: boolean
  method: string
  at: number
}
const ofPast = ({ channel, subscribed, method, at }: Choice, id = contactId): RequestContext => ({
  kind: 'subscribe',
  businessId,
  receivedAt: NOW,
  contactId: id,
  channels: { [channel]: subscribed },
  method,
  at,
})
const now = (subscribed: boolean, receivedAt = NOW): RequestContext => ({
  kind: 'subscribe',
  businessId,
  receivedAt,
  contactId,
  channels: { email: subscribed },
  method: 'page',
})
const email = (subscribed: boolean, at: number, method = 'form'): Choice => ({
  channel: 'email',
  subscribed,
  method,
  at,
})

const stateOf = (id = contactId) => stack.sql`
  select channel, subscribed, method, recorded_at from subscriptions where contact_id = ${id} order by channel`
const historyOf = (id = contactId) => stack.sql`
  select channel, subscribed, method, recorded_at from consent_history where contact_id = ${id}
  order by channel, recorded_at, subscribed, method`

const choice: fc.Arbitrary<Choice> = fc.record({
  channel: fc.constantFrom(...CHANNELS.slice(0, 2)),
  subscribed: fc.boolean(),
  method: fc.constantFrom('a', 'B', 'form'),
  at: fc.constantFrom(NOW - 3, NOW - 2, NOW - 1, NOW),
})

it('end in one state and one history, shuffled, repeated, and cut into micro-batches in any way', async () => {
  let contacts = 0
  const scenario = fc.array(choice, { minLength: 1, maxLength: 8 }).chain((choices) =>
    fc.record({
      choices: fc.constant(choices),
      shuffled: fc.shuffledSubarray([...choices, ...choices, ...choices], { minLength: 0 }),
      cut: fc.integer({ min: 1, max: 8 }),
    }),
  )
  await fc.assert(
    fc.asyncProperty(scenario, async ({ choices, shuffled, cut }) => {
      const [one, other] = [await newContact(`a${(contacts += 1)}@x.io`), await newContact(`b${contacts}@x.io`)]
      for (const made of choices.toSorted((a, b) => a.at - b.at)) await pipeline.apply(ofPast(made, one))
      const all = [...shuffled, ...choices].map((made) => ofPast(made, other))
      for (let from = 0; from < all.length; from += cut) await pipeline.apply(...all.slice(from, from + cut))
      expect(await stateOf(other)).toEqual(await stateOf(one))
      expect(await historyOf(other)).toEqual(await historyOf(one))
    }),
    { numRuns: runs(60) },
  )
})

describe('a choice of the past', () => {
  it('is never over a later one, and of two at one instant the opt-out counts', async () => {
    await pipeline.apply(now(false))
    await pipeline.apply(ofPast(email(true, NOW - 1)), ofPast(email(true, NOW)))
    expect(await stateOf()).toMatchObject([{ subscribed: false, method: 'page', recorded_at: NOW }])
    await pipeline.apply(now(true, NOW + 5))
    await pipeline.apply(ofPast(email(false, NOW + 4)))
    expect(await stateOf()).toMatchObject([{ subscribed: true }])
    await pipeline.apply(ofPast(email(false, NOW + 5)))
    expect(await stateOf()).toMatchObject([{ subscribed: false, recorded_at: NOW + 5 }])
    expect(await historyOf()).toHaveLength(6)
  })

  it('counts as of its own instant', async () => {
    await pipeline.apply(ofPast(email(true, NOW - 1000)))
    expect(await stateOf()).toEqual([{ channel: 'email', subscribed: true, method: 'form', recorded_at: NOW - 1000 }])
  })

  it('changes segments silently', async () => {
    const rule = { attribute: 'subscribed', channel: 'email', operator: 'is_true' }
    const segment = await insertSegment(stack.sql, businessId, rule as never)
    await pipeline.apply(ofPast(email(true, NOW - 1000)))
    expect(await membersOf(stack.sql, businessId, segment)).toMatchObject([{ contactId, cause: 'bulk' }])
  })

  it('goes with its contact into a merge in the same micro-batch', async () => {
    const loser = await newContact('bob@x.io')
    await pipeline.apply(
      ofPast(email(true, NOW - 9), loser),
      track(businessId, eventFact('seen', { email: 'bob@x.io', platformCustomerId: '7' })),
      track(businessId, eventFact('seen', { email: 'ann@x.io', platformCustomerId: '7' })),
    )
    expect(await historyOf()).toMatchObject([{ recorded_at: NOW - 9 }])
    expect(await stateOf()).toMatchObject([{ subscribed: true, recorded_at: NOW - 9 }])
  })
})
