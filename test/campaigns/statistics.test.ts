/** Tables that have grown are analysed while claims continue. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { sleep } from '../../src/async/sleep.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { NOW, openPipeline } from '../support/facts.ts'
import { fillDue } from '../support/fill-due.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { DAY, type Engine, isWaiting, openEngine, openShop } from './engine-lab.ts'

let stack: Stack
let engine: Engine
beforeAll(async () => {
  stack = await openStack()
  engine = openEngine(stack)
})
afterAll(async () => {
  await engine.close()
  await stack.close()
})

it('no claim waits while a table cannot be looked at, and the end of the worker does', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const shop = openShop(stack, engine, await openPipeline(stack.sql), businessId)
  const campaignId = await shop.publish([{ id: 'w', type: 'wait', for: 'P1D' }])
  const stop = new AbortController()
  let running = Promise.resolve()
  let isOver = false
  const waitFor = async (isSo: () => Promise<boolean>) => {
    const patience = Date.now() + PATIENCE_MS
    while (!(await isSo()) && Date.now() < patience) await sleep(20)
    expect(await isSo()).toBe(true)
  }
  const isMoved = async () => (await shop.due()).every((row) => row.due_at === NOW + DAY)
  await stack.sql.begin(async (tx) => {
    await tx`lock table logged_messages in access exclusive mode`
    for (let n = 0; n < 2; n += 1) {
      await fillDue(stack.sql, { businessId, campaignId, step: 'w', many: 1, dueAt: NOW })
      if (n === 0) running = runCampaigns(engine.deps, stop.signal).then(() => void (isOver = true))
      await waitFor(() => isWaiting(stack.sql, 'pg_relation_size'))
      await waitFor(isMoved)
    }
    stop.abort()
    await sleep(100)
    expect(isOver).toBe(false)
  })
  await running
})
