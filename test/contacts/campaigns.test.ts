/** What starts and ends an enrolment (decisions, "Campaigns"), through the pipeline and Postgres. */
import { uuidv7 } from 'uuidv7'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NOW, type Pipeline, batch, eventFact, openPipeline, track } from '../support/facts.ts'
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

async function publish(trigger: string, goal: string | null, canEnterAgain = false): Promise<string> {
  const id = uuidv7()
  await stack.sql`
    with campaign as (
      insert into campaigns (business_id, id, name, status, trigger_event, can_enter_again, goal_event, published_at)
      values (${businessId}, ${id}, 'c', 'published', ${trigger}, ${canEnterAgain}, ${goal}, now())
    )
    update businesses set config_version = config_version + 1 where id = ${businessId}`
  return id
}

const states = async () =>
  (
    await stack.sql<{ state: string }[]>`
      select state from enrolments where business_id = ${businessId} order by enrolled_at, received_at, id`
  ).map((row) => row.state)

const live = (event: string, occurredAt = NOW, identity: { email?: string; phone?: string } = ANN) =>
  track(businessId, eventFact(event, identity, { occurredAt }))

describe('a trigger', () => {
  it('enrols for a live event, at its occurredAt', async () => {
    await publish('signup', null)
    await pipeline.apply(live('signup', NOW - 5))
    const [row] =
      await stack.sql`select state, enrolled_at, received_at from enrolments where business_id = ${businessId}`
    expect(row).toMatchObject({ state: 'active', enrolled_at: NOW - 5, received_at: NOW })
  })

  it('enrols at its receipt when a clock that is ahead dates it later', async () => {
    await publish('signup', 'paid')
    await pipeline.apply(live('signup', NOW + 5))
    const [row] = await stack.sql`select enrolled_at from enrolments where business_id = ${businessId}`
    expect(row).toEqual({ enrolled_at: NOW })
    await pipeline.apply(live('paid', NOW))
    expect(await states()).toEqual(['converted'])
  })

  it('matches the name exactly', async () => {
    await publish('signup', null)
    await pipeline.apply(live('Signup'), live('signup '))
    expect(await states()).toEqual([])
  })

  it('is seen by the first event after the publish, though the worker knew the business before', async () => {
    await pipeline.apply(live('signup'))
    await publish('signup', null)
    await pipeline.apply(live('signup'))
    expect(await states()).toEqual(['active'])
  })

  it('never enrols for a batch, whatever the name', async () => {
    await publish('signup', null)
    await pipeline.apply(batch(businessId, [eventFact('signup', ANN)]))
    expect(await states()).toEqual([])
  })

  it('never enrols for a repeat', async () => {
    const keyed = track(businessId, eventFact('signup', ANN, { idempotencyKey: 'k' }))
    await pipeline.apply(keyed)
    await publish('signup', null)
    await pipeline.apply(keyed)
    expect(await states()).toEqual([])
  })

  it('enrols only once when the contact cannot enter again', async () => {
    await publish('signup', 'paid')
    await pipeline.apply(live('signup', NOW - 9))
    await pipeline.apply(live('paid', NOW - 8), live('signup', NOW - 7))
    expect(await states()).toEqual(['converted'])
  })

  it('enrols again once the earlier enrolment has ended, also within one micro-batch', async () => {
    await publish('signup', 'paid', true)
    await pipeline.apply(
      live('signup', NOW - 9),
      live('signup', NOW - 8),
      live('paid', NOW - 7),
      live('signup', NOW - 6),
    )
    expect(await states()).toEqual(['converted', 'active'])
  })
})

describe('a goal', () => {
  it('at or after the enrolment converts it, a batch included', async () => {
    await publish('signup', 'paid')
    await pipeline.apply(live('signup', NOW - 9))
    await pipeline.apply(batch(businessId, [eventFact('paid', ANN, { occurredAt: NOW - 9 })]))
    expect(await states()).toEqual(['converted'])
  })

  it('dated before the enrolment stops it', async () => {
    await publish('signup', 'paid')
    await pipeline.apply(live('signup', NOW - 9))
    await pipeline.apply(live('paid', NOW - 10))
    expect(await states()).toEqual(['stopped'])
  })

  it('that lies at or after the instant converts at once; one before leaves it active', async () => {
    await publish('signup', 'paid')
    await pipeline.apply(live('paid', NOW - 5))
    await pipeline.apply(live('signup', NOW - 5))
    expect(await states()).toEqual(['converted'])
    await pipeline.apply(live('paid', NOW - 5, { email: 'bob@x.io' }))
    await pipeline.apply(live('signup', NOW - 4, { email: 'bob@x.io' }))
    expect(await states()).toEqual(['converted', 'active'])
  })

  it('recorded before the campaign was published counts as well', async () => {
    await pipeline.apply(live('paid', NOW - 5))
    await publish('signup', 'paid')
    await pipeline.apply(live('signup', NOW - 6))
    expect(await states()).toEqual(['converted'])
  })
})

describe('a merge', () => {
  const join = () => track(businessId, eventFact('joined', { email: 'ann@x.io', phone: '972500000001' }))

  it('keeps the earlier of two active enrolments; the other ends as merged; nothing is triggered', async () => {
    await publish('signup', null)
    await pipeline.apply(live('signup', NOW - 3))
    await pipeline.apply(live('signup', NOW - 7, { phone: '972500000001' }))
    await pipeline.apply(join())
    expect(await states()).toEqual(['active', 'merged'])
    const holders = await stack.sql`select distinct contact_id from enrolments where business_id = ${businessId}`
    expect(holders).toHaveLength(1)
  })

  it.each([
    ['survivor', 1, 2],
    ['other', 2, 1],
  ])('keeps, of two enrolments at one instant, the one received first: the %s’s', async (whose, ann, phone) => {
    await publish('signup', null)
    await pipeline.apply(live('seen'))
    const received = (after: number, identity: { email?: string; phone?: string }) => ({
      ...live('signup', NOW - 3, identity),
      receivedAt: NOW + after,
    })
    await pipeline.apply(received(ann, ANN))
    await pipeline.apply(received(phone, { phone: '972500000001' }))
    await pipeline.apply(join())
    const held = await stack.sql<{ state: string; received_at: number }[]>`
      select state, received_at from enrolments where business_id = ${businessId} order by received_at`
    expect([whose, ...held]).toEqual([
      whose,
      { state: 'active', received_at: NOW + 1 },
      { state: 'merged', received_at: NOW + 2 },
    ])
  })

  it('checks the goal once on the united statistics', async () => {
    await publish('signup', 'paid')
    await pipeline.apply(live('signup', NOW - 7))
    await pipeline.apply(live('paid', NOW - 3, { phone: '972500000001' }))
    await pipeline.apply(join())
    expect(await states()).toEqual(['converted'])
  })

  it('leaves a campaign that cannot be entered again entered', async () => {
    await publish('signup', 'paid')
    await pipeline.apply(live('signup', NOW - 9), live('paid', NOW - 8))
    await pipeline.apply(
      live('signup', NOW - 7, { phone: '972500000001' }),
      live('paid', NOW - 6, { phone: '972500000001' }),
    )
    await pipeline.apply(join(), live('signup', NOW - 1))
    expect(await states()).toEqual(['converted', 'converted'])
  })
})
