/** Whom a backtest finds, and what it counts (campaigns, "Reading"). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_EVENTS } from '../../src/campaigns/backtest/load-histories.ts'
import { enrolBroadcast } from '../../src/campaigns/engine/enrol-broadcast.ts'
import { insertSegment } from '../segments/segments-support.ts'
import { identify, identifyFact, NOW, track, eventFact, browser, browserFact } from '../support/facts.ts'
import { type BacktestLab, byContact, openBacktestLab } from './backtest-lab.ts'
import { ANN, DAY, HOUR } from './engine-lab.ts'

const BOB = { email: 'bob@x.io' }
const CAT = { email: 'cat@x.io' }
const VISITOR = 'a'.repeat(32)

let lab: BacktestLab
beforeAll(async () => {
  lab = await openBacktestLab()
})
afterAll(() => lab.close())
beforeEach(() => lab.renew())

const send = async (id = 'a') => ({ id, type: 'send', channel: 'email', template: await lab.shop.template() })
const wait = (id: string, time: string) => ({ id, type: 'wait', for: time })
const pass = (ms: number) => lab.goTo(lab.engine.clock.now + ms)

/** Expects the same samples from a backtest and from the engine. Returns the result of the backtest. */
async function compare(campaignId: string, asked = {}) {
  await pass(1)
  const result = await lab.backtest(campaignId, asked)
  const really = await lab.really(campaignId)
  expect(result.samples.toSorted(byContact)).toEqual(really)
  return result
}

describe('who would have entered', () => {
  it('by live events that fit, from the beginning until the end of the time, and by none of a batch', async () => {
    const where = [{ property: 'plan', operator: 'equals', value: 'pro' }]
    const trigger = { event: 'signup', where } as never
    const draft = await lab.shop.publish([wait('w', 'P1D')], { trigger })
    const pro = { properties: { plan: 'pro' } }
    const ids = []
    for (const [at, who] of [ANN, BOB, CAT].entries()) {
      await pass(HOUR)
      ids[at] = await lab.does('signup', who, pro)
    }
    await lab.does('signup', { email: 'free@x.io' }, { properties: { plan: 'free' } })
    await lab.does('signup', { email: 'none@x.io' })
    await lab.imports('signup', { email: 'past@x.io' })
    await pass(HOUR)
    const entered = async (from: number, to: number) =>
      (await lab.backtest(draft, { from: NOW + from, to: NOW + to })).samples.map(({ contactId }) => contactId)
    expect(await entered(0, 4 * HOUR)).toEqual(ids.toSorted())
    expect(await entered(HOUR, 2 * HOUR)).toEqual([ids[0]])
    expect(await entered(HOUR + 1, 2 * HOUR + 1)).toEqual([ids[1]])
    expect(await entered(3 * HOUR + 1, 4 * HOUR)).toEqual([])
  })

  it('by servers alone, when the trigger asks for that, and by pages of those who were known', async () => {
    const [all, servers] = await Promise.all(
      [{ event: 'signup' }, { event: 'signup', sources: ['live'] }].map((trigger) =>
        lab.shop.publish([wait('w', 'P1D')], { trigger: trigger as never }),
      ),
    )
    const { businessId } = lab.shop
    const inPage = (at: number) => browser(businessId, browserFact('signup', VISITOR, { occurredAt: at }), at)
    await lab.does('signup', BOB)
    await pass(HOUR)
    await lab.pipeline.apply(inPage(NOW + HOUR))
    await pass(HOUR)
    const fact = identifyFact(ANN, { visitorId: VISITOR })
    await lab.pipeline.apply({ ...identify(businessId, fact), receivedAt: NOW + 2 * HOUR })
    expect((await compare(all!)).entered).toBe(1)
    await pass(HOUR)
    await lab.pipeline.apply(inPage(NOW + 3 * HOUR))
    expect((await compare(all!)).entered).toBe(2)
    expect((await compare(servers!)).entered).toBe(1)
  })

  it.each(['enter', 'leave'] as const)('by changes of a segment: %s', async (on) => {
    const happened = (event: string) =>
      ({ event, metric: 'count', operator: 'greater_than_or_equal', value: 1 }) as const
    const { segmentId } = await insertSegment(lab.stack.sql, lab.shop.businessId, {
      all: [happened('joined'), { not: happened('gone') }],
    })
    await lab.does('joined', CAT)
    await pass(HOUR)
    const id = await lab.shop.publish([await send(), wait('w', 'P1D')], {
      trigger: { segment: segmentId, on },
      goal: 'paid',
    })
    const from = lab.engine.clock.now
    for (const [event, who] of [
      ['joined', ANN],
      ['joined', BOB],
      ['gone', ANN],
      ['gone', CAT],
      ['paid', ANN],
    ] as const) {
      await lab.does(event, who)
      await pass(HOUR)
    }
    const result = await compare(id, { from })
    expect(result).toMatchObject({ entered: 2, converted: 1 })
    expect(result.approximations).toContain('segment_history')
  })

  it('as members of a segment at the beginning', async () => {
    const rule = { event: 'joined', metric: 'count', operator: 'greater_than_or_equal', value: 1 } as const
    const { segmentId } = await insertSegment(lab.stack.sql, lab.shop.businessId, rule)
    for (const who of [ANN, BOB]) await lab.shop.optIn(await lab.does('joined', who))
    await pass(HOUR)
    const from = lab.engine.clock.now
    const trigger = { segment: segmentId, on: 'members' } as const
    const id = await lab.shop.publish([await send()], { trigger })
    while (await enrolBroadcast(lab.engine.deps)) continue
    await pass(1)
    await lab.does('joined', CAT)
    expect(await compare(id, { from })).toMatchObject({ entered: 2, sent: 2 })
  })

  it('once as the survivor of a merge, and never when the person was erased', async () => {
    const id = await lab.shop.publish([await send(), wait('w', 'P1D')])
    const ann = await lab.does('signup', ANN)
    await lab.does('signup', { phone: '+972500000001' })
    const bob = await lab.does('signup', BOB)
    await pass(HOUR)
    await lab.does('seen', { ...ANN, phone: '+972500000001' })
    expect(await lab.backtest(id)).toMatchObject({ contacts: 2, entered: 2 })
    const { businessId } = lab.shop
    await lab.pipeline.apply({ kind: 'erase', businessId, receivedAt: lab.engine.clock.now, contactId: bob })
    const { samples, ...result } = await lab.backtest(id)
    expect(result).toMatchObject({ contacts: 1, entered: 1 })
    expect(samples.map(({ contactId }) => contactId)).toEqual([ann])
  })
})

describe('what is counted', () => {
  it('by step, day and channel, with the revenue of the converted ones', async () => {
    const steps = [await send('a'), wait('w', 'P1D'), await send('b')]
    const id = await lab.shop.publish(steps, { goal: 'paid', quietHours: null })
    const [ann] = [await lab.does('signup', ANN), await lab.does('signup', BOB)]
    await lab.shop.optIn(ann)
    await pass(2 * HOUR)
    await lab.does('purchase', ANN, { value: 20 })
    await lab.does('paid', ANN)
    await lab.does('purchase', BOB, { value: 5 })
    await pass(DAY)
    await lab.does('signup', CAT)
    await pass(HOUR)
    expect(await lab.backtest(id)).toMatchObject({
      contacts: 3,
      entered: 3,
      active: 1,
      finished: 1,
      converted: 1,
      conversionRate: 1 / 3,
      sent: 1,
      revenue: { USD: 20 },
      steps: [
        { stepId: 'a', entered: 3, channel: 'email', sent: 1, skipped: { no_opt_in: 2 } },
        { stepId: 'w', entered: 3, channel: null },
        { stepId: 'b', entered: 1, skipped: { no_opt_in: 1 } },
      ],
      days: [
        { day: '2026-11-20', entered: 2, sent: 1, converted: 1 },
        { day: '2026-11-21', entered: 1, sent: 0, converted: 0 },
      ],
      isComplete: true,
      leftOut: 0,
      approximations: ['settings', 'contact', 'suppressions', 'merges'],
    })
  })

  it('leaves nothing behind', async () => {
    const id = await lab.shop.publish([await send()])
    await lab.does('signup', ANN)
    await pass(1)
    const counts = () =>
      Promise.all(
        ['enrolments', 'due_steps', 'messages', 'logged_messages', 'audit_log', 'contacts', 'outbox'].map(
          (table) => lab.stack.sql`select count(*)::int from ${lab.stack.sql(table)}`,
        ),
      )
    await lab.ship()
    const before = await counts()
    expect(await lab.backtest(id)).toMatchObject({ entered: 1 })
    expect(await counts()).toEqual(before)
  })

  it('names what is taken as it is today', async () => {
    const steps = [
      { id: 'b', type: 'branch', rule: { tag: 'vip', operator: 'has' }, steps: [await send('yes')], otherwise: [] },
    ]
    const id = await lab.shop.publish(steps)
    await lab.does('signup', ANN)
    await pass(1)
    expect(await lab.backtest(id)).toMatchObject({ steps: [{ entered: 1 }, { entered: 0 }] })
    const fact = eventFact('seen', ANN, { tags: ['vip'] })
    await lab.pipeline.apply({ ...track(lab.shop.businessId, fact), receivedAt: lab.engine.clock.now })
    const { approximations, ...result } = await lab.backtest(id)
    expect(result).toMatchObject({ steps: [{ entered: 1 }, { entered: 1 }] })
    expect(approximations).toContain('rule_facts')
  })
})

it('sees in branches what its own updates have changed', async () => {
  const branch = async (id: string) => ({
    id,
    type: 'branch',
    rule: { tag: 'welcomed', operator: 'has' },
    steps: [await send(`${id} yes`)],
    otherwise: [await send(`${id} no`)],
  })
  const update = { id: 'u', type: 'update', addTags: ['welcomed'] }
  const id = await lab.shop.publish([await branch('before'), update, await branch('after')])
  await lab.does('signup', ANN)
  // The clock advances without the engine.
  lab.engine.clock.now += 1
  const { samples } = await lab.backtest(id)
  expect(samples[0]?.sends.map(({ stepId }) => stepId)).toEqual(['before no', 'after yes'])
})

describe('the limits', () => {
  it('allow as many contacts as there may be, and not one more', async () => {
    const id = await lab.shop.publish([wait('w', 'P1D')])
    for (const who of [ANN, BOB]) await lab.does('signup', who)
    await pass(1)
    expect(await lab.backtest(id, { maxEntrants: 2 })).toMatchObject({ contacts: 2 })
    await expect(lab.backtest(id, { maxEntrants: 1 })).rejects.toThrow(
      'More than 1 contacts are to be looked at. Choose a shorter time.',
    )
  })

  it('leave out who has more events than there may be, and count them', async () => {
    const id = await lab.shop.publish([wait('w', 'P1D')])
    const contactId = await lab.does('signup', ANN)
    await lab.does('signup', BOB)
    await pass(1)
    await lab.ship()
    const more = (many: number) =>
      lab.stack.clickhouse.command({
        query: `
          insert into events (business_id, contact_id, event_id, event, occurred_ms, received_ms, type, source)
          select '${lab.shop.businessId}', '${contactId}', generateUUIDv4(), 'signup', ${NOW}, ${NOW}, 'none', 'live'
          from numbers(${many})`,
      })
    await more(MAX_EVENTS - 1)
    expect(await lab.backtest(id)).toMatchObject({ contacts: 2, isComplete: true, leftOut: 0 })
    await more(1)
    expect(await lab.backtest(id)).toMatchObject({ contacts: 1, isComplete: false, leftOut: 1 })
  })
})

it('says how far it is, and stops when its signal aborts', async () => {
  const id = await lab.shop.publish([wait('w', 'P1D')])
  for (const who of [ANN, BOB]) await lab.does('signup', who)
  await pass(1)
  const seen: unknown[] = []
  await lab.backtest(id, { onProgress: (progress) => seen.push(progress) })
  expect(seen).toEqual([
    { done: 0, total: 2 },
    { done: 2, total: 2 },
  ])
  const stop = new AbortController()
  const stopped = lab.backtest(id, { signal: stop.signal, onProgress: () => stop.abort(new Error('stopped')) })
  await expect(stopped).rejects.toThrow('stopped')
})
