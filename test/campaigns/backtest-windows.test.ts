/** Branches of a backtest that count the timeline: the count is today's. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { BacktestError } from '../../src/campaigns/backtest/backtest-error.ts'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'
import { type BacktestLab, openBacktestLab } from './backtest-lab.ts'
import { ANN } from './engine-lab.ts'

let lab: BacktestLab
beforeAll(async () => {
  lab = await openBacktestLab()
})
afterAll(() => lab.close())
beforeEach(() => lab.renew())

const PEOPLE = [ANN, { email: 'bob@x.io' }, { email: 'cat@x.io' }]

/** Records the queries to ClickHouse. Those for which `fails` is true fail. */
function watch(fails: (query: string) => boolean = () => false): { clickhouse: ClickHouseClient; asked: string[] } {
  const { clickhouse } = lab.stack
  const asked: string[] = []
  const query = async (...sent: Parameters<typeof clickhouse.query>) => {
    asked.push(sent[0].query)
    if (fails(sent[0].query)) throw new Error('ClickHouse is away')
    return await clickhouse.query(...sent)
  }
  return { clickhouse: Object.assign(Object.create(clickhouse) as typeof clickhouse, { query }), asked }
}

const isCount = (query: string) => query.includes('groupArrayIf')

/** A contact that has paid twice gets one message, and the others get another one. */
async function publish(): Promise<string> {
  const rule = { event: 'paid', metric: 'count', operator: 'greater_than_or_equal', value: 2, withinDays: 1 }
  const template = await lab.shop.template()
  const send = (id: string) => ({ id, type: 'send', channel: 'email', template })
  return await lab.shop.publish([{ id: 'b', type: 'branch', rule, steps: [send('yes')], otherwise: [send('no')] }])
}

it('asks once for all contacts of a set', async () => {
  const id = await publish()
  const contactIds: string[] = []
  for (const [times, who] of PEOPLE.entries()) {
    contactIds.push(await lab.does('signup', who))
    for (let time = 0; time < times; time++) await lab.does('paid', who)
  }
  // The clock advances without the engine.
  lab.engine.clock.now += 1
  const { clickhouse, asked } = watch()
  const { samples, approximations } = await lab.backtest(id, { clickhouse })
  const stepOf = new Map(samples.map(({ contactId, sends }) => [contactId, sends.map(({ stepId }) => stepId)]))
  expect(contactIds.map((contactId) => stepOf.get(contactId))).toEqual([['no'], ['no'], ['yes']])
  expect(approximations).toContain('rule_sums')
  expect(asked.filter(isCount)).toHaveLength(1)
})

it('has no result when the timeline does not say what branches count', async () => {
  const id = await publish()
  await lab.does('signup', ANN)
  lab.engine.clock.now += 1
  const { clickhouse } = watch(isCount)
  const failed = await lab.backtest(id, { clickhouse }).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(BacktestError)
  expect(failed).toMatchObject({
    message: 'What the branches count cannot be read now. Start the backtest again later.',
  })
})
