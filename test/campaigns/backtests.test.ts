/** Running backtests: how many run at a time, who may cancel them, and what remains when their process dies. */
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import {
  type Backtest,
  KEEP_MS,
  LEASE_MS,
  MAX_KEPT,
  beginBacktest,
  endBacktest,
  renewBacktest,
  readBacktest,
} from '../../src/campaigns/backtest/backtest-store.ts'
import { type Backtests, createBacktests, createTurns } from '../../src/campaigns/backtest/backtests.ts'
import type { BacktestRequest } from '../../src/campaigns/backtest/plan-backtest.ts'
import { readCampaign } from '../../src/campaigns/list-campaigns.ts'
import { loadDefinitions } from '../../src/segments/load-definitions.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { NOW } from '../support/facts.ts'
import { type BacktestLab, openBacktestLab } from './backtest-lab.ts'
import { ANN } from './engine-lab.ts'

let lab: BacktestLab
let backtests: Backtests
beforeAll(async () => {
  lab = await openBacktestLab()
})
afterAll(() => lab.close())
beforeEach(async () => {
  await lab.renew()
  await backtests?.close()
  backtests = open()
})

function open(more: Partial<Parameters<typeof createBacktests>[0]> = {}): Backtests {
  const { sql, clickhouse, redis } = lab.stack
  return createBacktests({
    sql,
    clickhouse,
    redis,
    log: pino({ level: 'silent' }),
    now: Date.now,
    holdEveryMs: 20,
    ...more,
  })
}

/** Publishes a campaign that one contact has entered. */
async function ask(): Promise<BacktestRequest> {
  const { businessId } = lab.shop
  const campaignId = await lab.shop.publish([{ type: 'wait', for: 'P1D' }])
  await lab.does('signup', ANN)
  await lab.goTo(NOW + 1)
  await lab.ship()
  const { sql } = lab.stack
  return {
    business: { id: businessId, timezone: 'UTC' },
    campaign: (await readCampaign(sql, businessId, campaignId))!,
    definitions: await loadDefinitions(sql, businessId),
    from: NOW,
    to: NOW + 1,
    now: NOW + 1,
  }
}

const keyOf = (asked: BacktestRequest, { backtestId }: Pick<Backtest, 'backtestId'>) => ({
  businessId: asked.business.id,
  campaignId: asked.campaign.campaignId,
  backtestId,
})

async function started(asked: BacktestRequest, from = backtests): Promise<Backtest> {
  const backtest = await from.start(asked)
  if (typeof backtest === 'string') throw new Error(backtest)
  return backtest
}

const ends = (asked: BacktestRequest, backtest: Backtest) =>
  vi.waitUntil(
    async () => {
      const found = await backtests.read(keyOf(asked, backtest))
      return found?.status === 'running' ? undefined : found
    },
    { timeout: PATIENCE_MS },
  )

/** A ClickHouse that does not answer before the promise settles. */
function slowClickHouse(until: Promise<unknown>): Partial<Parameters<typeof createBacktests>[0]> {
  const { clickhouse } = lab.stack
  const query = async (...sent: Parameters<typeof clickhouse.query>) => {
    await until
    return await clickhouse.query(...sent)
  }
  return { clickhouse: Object.assign(Object.create(clickhouse) as typeof clickhouse, { query }) }
}

it('runs, and is found by every process', async () => {
  const asked = await ask()
  const backtest = await started(asked)
  expect(backtest).toMatchObject({ status: 'running', result: null, endedAt: null, progress: { done: 0, total: null } })
  const other = open()
  const done = await ends(asked, backtest)
  expect(done).toMatchObject({ status: 'done', result: { entered: 1 }, error: null, progress: { done: 1, total: 1 } })
  expect(await other.read(keyOf(asked, backtest))).toEqual(done)
  await other.close()
  const elsewhere = { ...keyOf(asked, backtest), businessId: crypto.randomUUID() }
  expect([await backtests.read(elsewhere), await backtests.cancel(elsewhere)]).toEqual([null, null])
})

it('runs once for a campaign, and twice for a business', async () => {
  const free = Promise.withResolvers<void>()
  const slow = open(slowClickHouse(free.promise))
  const [first, second, third] = [await ask(), await ask(), await ask()]
  const running = await started(first, slow)
  expect(await backtests.start(first)).toBe('campaign')
  await started(second, slow)
  expect(await backtests.start(third)).toBe('business')
  free.resolve()
  expect(await ends(first, running)).toMatchObject({ status: 'done' })
  await started(third)
  await slow.close()
})

it('is cancelled by any process, and stays as it is afterwards', async () => {
  const free = Promise.withResolvers<void>()
  const slow = open(slowClickHouse(free.promise))
  const asked = await ask()
  const backtest = await started(asked, slow)
  expect(await backtests.cancel(keyOf(asked, backtest))).toMatchObject({ status: 'cancelled', result: null })
  // Another one may run at once.
  expect(await ends(asked, await started(asked))).toMatchObject({ status: 'done' })
  free.resolve()
  await slow.close()
  const cancelled = await backtests.read(keyOf(asked, backtest))
  expect(cancelled).toMatchObject({ status: 'cancelled', result: null })
  expect(await backtests.cancel(keyOf(asked, backtest))).toEqual(cancelled)
})

it('has failed when its process is stopped', async () => {
  const free = Promise.withResolvers<void>()
  const slow = open(slowClickHouse(free.promise))
  const asked = await ask()
  const backtest = await started(asked, slow)
  const closing = slow.close()
  free.resolve()
  await closing
  expect(await backtests.read(keyOf(asked, backtest))).toMatchObject({
    status: 'failed',
    error: 'The process that ran it was stopped. Start the backtest again.',
  })
})

it('has failed with what to do when it finds too many contacts', async () => {
  const asked = await ask()
  const small = open({ maxEntrants: 0 })
  const failed = await ends(asked, await started(asked, small))
  expect(failed).toMatchObject({ status: 'failed', error: expect.stringContaining('Choose a shorter time.') as string })
  await small.close()
})

it('has failed when its process is gone, and what that does later changes nothing', async () => {
  const { redis } = lab.stack
  const asked = await ask()
  const key = keyOf(asked, { backtestId: crypto.randomUUID() })
  const backtest: Backtest = {
    ...key,
    version: 1,
    from: '',
    to: '',
    status: 'running',
    startedAt: '',
    endedAt: null,
    progress: { done: 0, total: null },
    result: null,
    error: null,
  }
  expect(await beginBacktest(redis, key.businessId, backtest)).toBe('begun')
  expect(await renewBacktest(redis, key.businessId, { ...backtest, progress: { done: 1, total: 2 } })).toBe(true)
  expect(await readBacktest(redis, key)).toMatchObject({ status: 'running', progress: { done: 1, total: 2 } })
  expect(await backtests.start(asked)).toBe('campaign')
  await redis.zadd(
    `sluice:{${key.businessId}}:backtests-running`,
    Date.now() - 1,
    `${key.campaignId}:${key.backtestId}`,
  )
  const gone = { status: 'failed', error: 'The process that ran it has stopped. Start the backtest again.' }
  expect(await readBacktest(redis, key)).toMatchObject(gone)
  expect(await renewBacktest(redis, key.businessId, backtest)).toBe(false)
  expect(await endBacktest(redis, key.businessId, { ...backtest, status: 'done' })).toBe(false)
  expect(await readBacktest(redis, key)).toMatchObject(gone)
  expect(await ends(asked, await started(asked))).toMatchObject({ status: 'done' })
  expect(LEASE_MS).toBeLessThan(KEEP_MS)
})

it('is forgotten when there are too many newer ones of the business, or after an hour', async () => {
  const { redis } = lab.stack
  const asked = await ask()
  const first = await started(asked)
  await ends(asked, first)
  let last = first
  for (let more = 1; more < MAX_KEPT; more++) {
    last = await started(asked)
    await ends(asked, last)
  }
  expect(await backtests.read(keyOf(asked, first))).toMatchObject({ status: 'done' })
  await ends(asked, await started(asked))
  expect(await backtests.read(keyOf(asked, first))).toBeNull()
  expect(await backtests.read(keyOf(asked, last))).toMatchObject({ status: 'done' })
  for (const key of await redis.keys(`sluice:{${asked.business.id}}:*`)) {
    const left = await redis.pttl(key)
    expect([key, left > 0 && left <= KEEP_MS]).toEqual([key, true])
  }
})

it('takes turns with the others', async () => {
  const inTurn = createTurns()
  let running = 0
  const order: number[] = []
  const work = (n: number) =>
    inTurn(async () => {
      expect((running += 1)).toBe(1)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running -= 1
      order.push(n)
      if (n === 1) throw new Error('fails alone')
    })
  const outcomes = await Promise.allSettled([0, 1, 2].map(work))
  expect(order).toEqual([0, 1, 2])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})
