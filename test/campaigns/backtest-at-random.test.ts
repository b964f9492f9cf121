/**
 * Random histories through the real engine: a backtest of the same period has the same enrolments and the same
 * messages.
 */
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runs } from '../support/runs.ts'
import { suppress } from '../../src/messages/suppressions/suppress.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { type BacktestLab, byContact, openBacktestLab } from './backtest-lab.ts'
import { DAY, HOUR } from './engine-lab.ts'

let lab: BacktestLab
/** Ids of the people's contacts. */
let contactIds: string[]
beforeAll(async () => {
  lab = await openBacktestLab()
})
afterAll(() => lab.close())

const PEOPLE = [0, 1, 2].map((who) => ({ email: `p${who}@x.io` }))

const count = (event: string, value: number) => ({ event, metric: 'count', operator: 'greater_than_or_equal', value })
/** Rules about data that has a history. Tags have none: a backtest reads today's. */
const RULES = [
  count('opened', 2),
  count('signup', 2),
  { event: 'opened', metric: 'last', operator: 'within_days', value: 1 },
  { attribute: 'stage', operator: 'at_least', value: 'Decision' },
  { attribute: 'orderCount', operator: 'greater_than_or_equal', value: 2 },
  { attribute: 'revenue', currency: 'USD', operator: 'greater_than', value: 15 },
  { attribute: 'subscribed', channel: 'email', operator: 'is_true' },
]

const { list } = fc.letrec<{ step: object; list: object[] }>((tie) => ({
  list: fc.array(tie('step'), { maxLength: 3, depthIdentifier: 'lists' }),
  step: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'steps' },
    fc.constantFrom(
      { type: 'send', channel: 'email' },
      { type: 'send', channel: 'email' },
      { type: 'send', channel: 'sms' },
      { type: 'send', channel: 'email', kind: 'transactional' },
      { type: 'wait', for: 'PT1H' },
      { type: 'wait', for: 'P1D' },
      { type: 'wait_until', time: '10:30' },
      { type: 'update', addTags: ['welcomed'] },
    ),
    fc.record({
      type: fc.constant('wait_for'),
      event: fc.constant('opened'),
      timeout: fc.constantFrom('PT5H', 'P2D'),
      steps: tie('list'),
      otherwise: tie('list'),
    }),
    fc.record({
      type: fc.constant('branch'),
      rule: fc.constantFrom(...RULES),
      steps: tie('list'),
      otherwise: tie('list'),
    }),
    fc.tuple(tie('list'), tie('list')).map((lists) => ({
      type: 'split',
      parts: lists.map((steps) => ({ percent: 50, steps })),
    })),
  ),
}))

const who = fc.nat(PEOPLE.length - 1)
const action = fc.record({
  after: fc.oneof(fc.nat(3 * HOUR), fc.nat(2 * DAY)),
  who,
  does: fc.oneof(
    { weight: 4, arbitrary: fc.constant('signup') },
    { weight: 4, arbitrary: fc.constantFrom('opened', 'purchase', 'paid', 'other') },
    { weight: 2, arbitrary: fc.constantFrom('opt in', 'opt out', 'suppress', 'import') },
  ),
  ago: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(2 * DAY)),
})

const scenario = fc.record({
  steps: list.filter((steps) => steps.length > 0),
  quietHours: fc.constantFrom(null, { from: '20:00', to: '08:00' }),
  caps: fc.constantFrom(
    [],
    [{ channel: 'email', atMost: 1, days: 1.5, whenReached: 'wait' }],
    [{ channel: 'email', atMost: 2, days: 3, whenReached: 'skip' }],
  ),
  holdOut: fc.constantFrom(0, 50),
  hasGoal: fc.boolean(),
  canEnterAgain: fc.boolean(),
  before: fc.array(action, { maxLength: 6 }),
  during: fc.array(action, { maxLength: 20 }),
  after: fc.array(action, { maxLength: 5 }),
})

/** Adds the shop's templates, and ids. */
function withTemplates(steps: object[], templates: Record<string, string>): object[] {
  let made = 0
  const text = JSON.stringify(steps, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('type' in value)) return value
    const id = `s${(made += 1)}`
    const { channel } = value as { channel?: string }
    return { id, ...value, ...(channel !== undefined && { template: templates[channel] }) }
  })
  return JSON.parse(text) as object[]
}

interface Act {
  after: number
  who: number
  does: string
  ago: number
}
async function act({ after, who: one, does, ago }: Act): Promise<void> {
  const { shop, engine } = lab
  await lab.goTo(engine.clock.now + 1 + after)
  const person = PEOPLE[one]!
  if (does === 'opt in' || does === 'opt out') await shop.optIn(contactIds[one]!, 'email', does === 'opt in')
  else if (does === 'import') await lab.imports('signup', person, ago)
  else if (does === 'suppress') {
    const item = { channel: 'email', address: person.email, reason: 'complaint' } as const
    const key = await loadMessageKey(lab.stack.sql)
    await lab.stack.sql.begin((tx) => suppress(tx, key, { businessId: shop.businessId, now: engine.clock.now }, [item]))
  } else await lab.does(does, person, { ago, ...(does === 'purchase' && { value: 10 }) })
}

it('a backtest is what the engine did', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ steps, before, during, after, hasGoal, ...more }) => {
      await lab.renew()
      const { shop, engine } = lab
      contactIds = []
      for (const person of PEOPLE) contactIds.push(await lab.does('seen', person))
      for (const contactId of contactIds.slice(1)) await shop.optIn(contactId)
      const templates = { email: await shop.template(), sms: await shop.template('sms') }
      await shop.publish([{ type: 'send', channel: 'email', template: templates.email }], {
        trigger: 'other',
        quietHours: null,
      })
      for (const one of before) await act(one)
      await lab.goTo(engine.clock.now + 1)
      const from = engine.clock.now
      const campaignId = await shop.publish(withTemplates(steps, templates), {
        ...more,
        ...(hasGoal && { goal: 'paid' }),
      })
      for (const one of during) await act(one)
      await lab.goTo(engine.clock.now + 1)
      const to = engine.clock.now
      for (const one of after) if (one.does !== 'signup') await act(one)
      await lab.goTo(engine.clock.now + 1)
      const result = await lab.backtest(campaignId, { from, to })
      const really = await lab.really(campaignId)
      expect(result.samples.toSorted(byContact)).toEqual(really)
      expect(result.entered).toBe(really.length)
      expect(result.contacts).toBe(new Set(really.map(({ contactId }) => contactId)).size)
      const sends = really.flatMap((one) => one.sends)
      expect(result.sent).toBe(sends.filter(({ reason }) => reason === null).length)
      for (const state of ['active', 'finished', 'converted', 'stopped'] as const)
        expect([state, result[state]]).toEqual([state, really.filter((one) => one.state === state).length])
      for (const { stepId, sent, skipped } of result.steps) {
        const own = sends.filter((one) => one.stepId === stepId)
        expect(sent).toBe(own.filter(({ reason }) => reason === null).length)
        expect(Object.values(skipped).reduce((sum, many) => sum + many, 0)).toBe(own.length - sent)
      }
    }),
    { numRuns: runs(15), endOnFailure: true },
  )
})
