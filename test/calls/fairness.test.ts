/** However many messages of campaigns are due, calls of the same business and sender are handed over within a second. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCalls } from '../../src/calls/engine/run-calls.ts'
import { ENGINE_SETTINGS } from '../../src/campaigns/engine/open-engine.ts'
import { runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { createLogger } from '../../src/log.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { createWaker, listenForWakeUps } from '../../src/stores/wake-ups.ts'
import { useMailServer } from '../campaigns/engine-lab.ts'
import { type EngineLab, useEngineLab } from '../campaigns/use-engine-lab.ts'
import { openMailServer } from '../messages/channels/mail-server.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'
import { fillDue } from '../support/fill-due.ts'
import { RUNS_ALL } from '../support/runs.ts'
import { type CallLab, call, callTemplate, openCallLab } from './call-lab.ts'

const CAMPAIGN_MESSAGES = RUNS_ALL ? 100_000 : 1000
const CALLS = RUNS_ALL ? 200 : 50
const EVERY_MS = 30

let lab: EngineLab
useEngineLab((opened) => (lab = opened))
let sql: Sql
let calls: CallLab
beforeAll(() => {
  sql = connectPostgres(lab.stack.databaseUrl, { max: 3, settings: ENGINE_SETTINGS })
  calls = openCallLab(sql, lab.engine.clock)
})
afterAll(async () => {
  await calls.close()
  await sql.end({ timeout: 1 })
})

it('p99 of the calls is below a second while messages of a campaign are due', async () => {
  const { businessId } = lab.shop
  const { stack, engine } = lab
  engine.clock.now = Date.now()
  const server = await openMailServer()
  await useMailServer(stack, { now: Date.now }, businessId, server.port)
  const plain = await lab.shop.template()
  const campaignId = await lab.shop.publish([{ id: 'a', type: 'send', channel: 'email', template: plain }], {
    quietHours: null,
  })
  const dueAt = Date.now() - 1000
  await fillDue(stack.sql, { businessId, campaignId, step: 'a', many: CAMPAIGN_MESSAGES, dueAt })
  const template = await callTemplate(engine, businessId)
  const log = createLogger({ level: 'silent', name: 'test' })
  const [publish, subscribe] = [connectRedis(stack.redisUrl, 'publish'), connectRedis(stack.redisUrl, 'subscribe')]
  const wakeUps = listenForWakeUps(subscribe, 'calls', log)
  const wake = createWaker(publish, log)
  const stop = new AbortController()
  const running = [
    runCampaigns({ ...engine.deps, now: Date.now }, stop.signal),
    runCalls({ ...calls.deps, now: Date.now, wakeUps }, stop.signal),
  ]
  try {
    for (let count = 0; count < 1;)
      ({ count } = await stack.sql`select from messages where campaign_id = ${campaignId} limit 1`)
    const answered = new Map<string, number>()
    for (let n = 0; n < CALLS; n += 1) {
      engine.clock.now = Date.now()
      const { message } = await call(calls, businessId, { template, data: { code: n }, to: { email: `c${n}@x.io` } })
      wake('calls')
      answered.set(message.messageId, Date.now())
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    }
    const [{ many }] = await stack.sql<[{ many: number }]>`
      select count(*)::int as many from messages where campaign_id = ${campaignId} and state = 'sent'`
    const sent = () => stack.sql<{ id: string; at: number }[]>`
      select id, sent_at as at from messages where business_id = ${businessId} and campaign_id is null and state = 'sent'`
    await expect.poll(async () => (await sent()).length, { timeout: PATIENCE_MS }).toBe(CALLS)
    // The campaign goes on meanwhile, and is not done.
    expect(many).toBeGreaterThan(0)
    if (RUNS_ALL) expect(many).toBeLessThan(CAMPAIGN_MESSAGES)
    const late = (await sent()).map(({ id, at }) => at - answered.get(id)!).toSorted((a, b) => a - b)
    const p99 = late[Math.ceil(late.length * 0.99) - 1]!
    expect(p99).toBeLessThan(atLoad(1000))
  } finally {
    stop.abort()
    await Promise.all(running)
    wakeUps.close()
    for (const connection of [publish, subscribe]) connection.disconnect()
    await server.close()
  }
})
