/** What visitors do before they are identified, and how it counts afterwards. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draftCampaign, publishDraft } from '../support/campaigns.ts'
import { NOW, browser, browserFact, eventFact, track } from '../support/facts.ts'
import { businessId, pipeline, stack, takeBusiness, useFreshBusiness } from '../support/fresh-business.ts'
import { readPeople } from '../support/read-people.ts'
import { ANN, V, W, did, isAnn, timeline } from './visitor-words.ts'
import { runs } from '../support/runs.ts'

useFreshBusiness()

const waiting = async (): Promise<number> =>
  (await stack.sql`select 1 from visitor_events where business_id = ${businessId}`).length

describe('an event of a visitor who is not identified', () => {
  it('is anonymous, and joins the contact once there is one: with its own time, once', async () => {
    const answer = await pipeline.browser(did('pricing_page_viewed', NOW - 5000, { properties: '{"plan":"pro"}' }))
    expect(answer).toEqual({ contactId: null, deduped: false, warnings: [] })
    await pipeline.browser(did('demo', NOW - 4000))
    await pipeline.browser(did('demo', NOW - 6000))
    expect([await readPeople(stack.sql, businessId), await timeline(), await waiting()]).toEqual([[], [], 3])

    const { contactId, linkedVisitor } = await pipeline.identify(isAnn())
    expect(linkedVisitor).toBe(true)
    await pipeline.identify(isAnn())
    const [ann] = await readPeople(stack.sql, businessId)
    expect(ann).toMatchObject({
      stage: 1,
      events: { demo: [NOW - 6000, NOW - 4000, 2], pricing_page_viewed: [NOW - 5000, NOW - 5000, 1] },
    })
    expect(await timeline()).toEqual([
      ['pricing_page_viewed', contactId, NOW - 5000],
      ['demo', contactId, NOW - 4000],
      ['demo', contactId, NOW - 6000],
    ])
    expect(await waiting()).toBe(0)
  })

  it('joins also within one micro-batch, and through a keyed track', async () => {
    await pipeline.browser(did('a', NOW - 3))
    const [first] = await pipeline.apply(
      did('b', NOW - 2),
      track(businessId, eventFact('c', ANN, { visitorId: V })),
      did('d'),
    )
    expect(first).toMatchObject({ contactId: null })
    const [ann] = await readPeople(stack.sql, businessId)
    expect(Object.keys(ann?.events ?? {})).toEqual(['a', 'b', 'c', 'd'])
    expect((await timeline()).map(([event]) => event).sort()).toEqual(['a', 'b', 'c', 'd'])
    expect(new Set((await timeline()).map(([, contactId]) => contactId)).size).toBe(1)
  })

  it('is an order when its name says so, and never money', async () => {
    await pipeline.browser(did('purchase'))
    await pipeline.apply(did('purchase'), isAnn())
    await pipeline.browser(did('purchase'))
    expect((await readPeople(stack.sql, businessId))[0]).toMatchObject({ orders: 3, revenue: {}, stage: 2 })
  })

  it('sent twice counts once, also when the visitor was identified in between', async () => {
    const sent = did('demo', NOW, { messageId: 'm' })
    expect(await pipeline.apply(sent, sent)).toMatchObject([{ deduped: false }, { deduped: true, contactId: null }])
    const { contactId } = await pipeline.identify(isAnn())
    expect(await pipeline.browser(sent)).toMatchObject({ deduped: true, contactId })
    const other = browser(businessId, browserFact('demo', W, { messageId: 'm' }))
    expect(await pipeline.browser(other)).toMatchObject({ deduped: false })
    // A key of a caller is separate from a message id.
    const keyed = track(businessId, eventFact('demo', ANN, { idempotencyKey: 'm' }))
    expect(await pipeline.track(keyed)).toMatchObject({ deduped: false })
    expect((await readPeople(stack.sql, businessId))[0]?.events['demo']?.[2]).toBe(2)
  })

  it('starts no campaign when it joins, and reaches goals by its own time', async () => {
    const campaign = async (trigger: string, goal: string) => {
      const campaignId = await draftCampaign(stack.sql, businessId, {
        name: trigger,
        trigger: { event: trigger },
        canEnterAgain: false,
        goalEvent: goal,
      })
      await publishDraft(stack.sql, businessId, campaignId)
    }
    await campaign('demo', 'never')
    await campaign('signup', 'done')
    await campaign('tried', 'early')
    pipeline.deps.configs.clear()
    await pipeline.track(track(businessId, eventFact('signup', ANN, { occurredAt: NOW - 100 })))
    await pipeline.track(track(businessId, eventFact('tried', ANN, { occurredAt: NOW - 100 })))
    for (const [event, at] of [
      ['demo', NOW - 9],
      ['early', NOW - 101],
      ['done', NOW - 102],
      ['done', NOW - 99],
    ] as const)
      await pipeline.browser(did(event, at))
    await pipeline.identify(isAnn())
    const states = await stack.sql<
      { name: string; state: string }[]
    >`select c.name, e.state from enrolments e join campaigns c on c.id = e.campaign_id
      where e.business_id = ${businessId} order by c.name`
    expect(states.map(({ name, state }) => [name, state])).toEqual([
      ['signup', 'converted'],
      // The goal happened before the enrolment, and was received before it.
      ['tried', 'active'],
    ])
    // From now on, events of the browser are live.
    await pipeline.browser(did('demo'))
    expect(await stack.sql`select 1 from enrolments where business_id = ${businessId}`).toHaveLength(3)
  })

  it.each([
    ['before', -1, 'active'],
    ['after', 1, 'stopped'],
  ])(
    'that is a goal and lies before an enrolment, and was received %s it, leaves it the same whenever it joins',
    async (_when, later, state) => {
      for (const place of [0, 1, 2]) {
        await takeBusiness()
        const made = await draftCampaign(stack.sql, businessId, {
          name: 'c',
          trigger: { event: 'signup' },
          canEnterAgain: false,
          goalEvent: 'done',
        })
        await publishDraft(stack.sql, businessId, made)
        const signup = track(businessId, eventFact('signup', ANN, { occurredAt: NOW - 100 }))
        const done = { ...did('done', NOW - 101), receivedAt: NOW + later }
        const calls = later < 0 ? [done, signup] : [signup, done]
        calls.splice(place, 0, { ...isAnn(), receivedAt: NOW - 200 })
        for (const call of calls) await pipeline.apply(call)
        const [enrolment] = await stack.sql`select state from enrolments where business_id = ${businessId}`
        expect([place, enrolment]).toEqual([place, { state }])
      }
    },
  )

  it('is kept up to 1,000 times: the oldest goes first', async () => {
    const many = Array.from({ length: 1000 }, (_, n) => did(`e${n}`, NOW + n))
    await pipeline.apply(...many)
    expect(await waiting()).toBe(1000)
    await pipeline.browser(did('last', NOW + 1000))
    expect(await waiting()).toBe(1000)
    await pipeline.identify(isAnn())
    const [ann] = await readPeople(stack.sql, businessId)
    expect([Object.keys(ann?.events ?? {}).length, ann?.events['e0'], ann?.events['last']?.[2]]).toEqual([
      1000,
      undefined,
      1,
    ])
  })

  it.each([
    [0, 16],
    [1, 15],
  ])('is kept up to 512 KiB of timeline: with %i bytes more %i of 16', async (more, many) => {
    const lengths = async () => {
      const rows = await stack.sql<{ bytes: number }[]>`
        select octet_length(line) as bytes from visitor_events where business_id = ${businessId} order by event_id`
      return rows.map(({ bytes }) => bytes)
    }
    const say = (n: number, length: number) =>
      pipeline.browser(did(`e${n.toString(16)}`, NOW, { properties: JSON.stringify({ text: 'x'.repeat(length) }) }))
    await say(0, 0)
    const [bare = 0] = await lengths()
    await stack.sql`delete from visitor_events where business_id = ${businessId}`
    for (let n = 0; n < 16; n += 1) await say(n, 32_768 - bare + (n === 15 ? more : 0))
    expect((await lengths()).reduce((sum, bytes) => sum + bytes, 0)).toBe(524_288 + more - (16 - many) * 32_768)
    expect(
      await stack.sql`select event from visitor_events where business_id = ${businessId} order by event_id limit 1`,
    ).toEqual([{ event: `e${16 - many}` }])
  })

  it('belongs to the same person in the end, wherever the identification falls and however the calls are cut', async () => {
    const event = fc.record({ name: fc.constantFrom('demo', 'purchase', 'add_to_cart'), ago: fc.nat(5) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 8 }),
        fc.nat(8),
        fc.integer({ min: 1, max: 4 }),
        async (events, place, cut) => {
          await takeBusiness()
          const calls = events.map(({ name, ago }) => did(name, NOW - ago))
          calls.splice(place, 0, isAnn())
          for (let at = 0; at < calls.length; at += cut) await pipeline.apply(...calls.slice(at, at + cut))
          const counted = Map.groupBy(events, ({ name }) => name)
          const expected = [...counted].map(([name, those]) => {
            const times = those.map(({ ago }) => NOW - ago)
            return [name, [Math.min(...times), Math.max(...times), those.length]]
          })
          const [ann, ...others] = await readPeople(stack.sql, businessId)
          expect([ann?.events, others]).toEqual([Object.fromEntries(expected), []])
          expect(ann?.orders).toBe(counted.get('purchase')?.length ?? 0)
          expect(ann?.stage).toBe(counted.has('purchase') ? 2 : counted.has('add_to_cart') ? 1 : 0)
          expect((await timeline()).map(([name, , at]) => `${name} ${at}`).sort()).toEqual(
            events.map(({ name, ago }) => `${name} ${NOW - ago}`).sort(),
          )
        },
      ),
      { numRuns: runs(40) },
    )
  })
})
