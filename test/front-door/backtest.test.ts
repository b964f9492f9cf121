/** `POST /api/campaigns/{id}/backtest` and the requests that follow it (campaigns, "Reading"). */
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { BacktestData, StartedBacktestData } from '../../src/front-door/routes/campaigns/backtest-schemas.ts'
import type { Backtest } from '../../src/campaigns/backtest/backtest-store.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { openService } from '../support/service.ts'
import { newVisitor } from '../web-events/web-lab.ts'
import { BROWSER, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { type SimulationClient, openClient, send } from './simulation-client.ts'
import { useOpened } from '../support/use-opened.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const service = useOpened(() => openService({ PUBLIC_URL: 'https://shop.example' }))
let client: SimulationClient
beforeEach(async () => {
  client = await openClient(service)
})

const post = (campaignId: string, body: object) => client.ask('POST', `/api/campaigns/${campaignId}/backtest`, body)
const at = (campaignId: string, backtestId: string) => `/api/campaigns/${campaignId}/backtest/${backtestId}`

async function start(campaignId: string, body: object): Promise<string> {
  const { backtestId } = dataOf(StartedBacktestData, await post(campaignId, body))
  return String(backtestId)
}

async function read(campaignId: string, backtestId: string): Promise<Backtest> {
  return dataOf(BacktestData, await client.ask('GET', at(campaignId, backtestId)))['backtest'] as Backtest
}

async function resultOf(campaignId: string, body: object): Promise<Backtest> {
  const backtestId = await start(campaignId, body)
  const ended = async () => (await read(campaignId, backtestId)).status !== 'running'
  await vi.waitUntil(ended, { timeout: PATIENCE_MS })
  return await read(campaignId, backtestId)
}

const track = async (email: string): Promise<string> => {
  const { body } = await client.ask('POST', '/api/sdk/track', { event: 'signup', identity: { email } })
  return String(body.data['contactId'])
}

it('says what a draft would have done, with who and when', async () => {
  const campaignId = await client.draft([send('a', await client.template('x'), { kind: 'transactional' })])
  const from = Date.now()
  const contactId = await track('ada@example.com')
  const { result, ...backtest } = await resultOf(campaignId, { from: new Date(from).toISOString() })
  expect(backtest).toMatchObject({
    campaignId,
    version: 1,
    status: 'done',
    error: null,
    progress: { done: 1, total: 1 },
  })
  expect(result).toMatchObject({ contacts: 1, entered: 1, finished: 1, sent: 1, isComplete: true })
  const [sample] = result!.samples
  expect(sample).toMatchObject({
    contactId,
    state: 'finished',
    sends: [{ stepId: 'a', channel: 'email', reason: null }],
  })
  expect(Date.parse(sample!.enrolledAt)).toBeGreaterThanOrEqual(from - 1)
})

it('forgets the samples of a person who is erased', async () => {
  const campaignId = await client.draft([])
  const from = Date.now()
  const contactId = await track('ada@example.com')
  await track('bob@example.com')
  const { backtestId, result } = await resultOf(campaignId, { from })
  expect(result?.samples).toHaveLength(2)
  expect((await client.ask('DELETE', `/api/contacts/${contactId}`)).status).toBe(200)
  const after = (await read(campaignId, backtestId)).result
  expect(after?.entered).toBe(2)
  expect(after?.samples.map((one) => one.contactId)).toEqual(
    result?.samples.map((one) => one.contactId).filter((id) => id !== contactId),
  )
})

it('finds the page views of those who were known', async () => {
  const speak = speakTo(service.url)
  const { businessId } = client.tenant
  const visitorId = newVisitor()
  const where = [{ property: 'path', operator: 'equals', value: '/prices' }]
  const campaignId = await client.draft([], { trigger: { web: 'page_view', where }, goal: undefined })
  const from = Date.now()
  const capture = async (pageId: string, path: string) => {
    const hits = [{ kind: 'page_view', id: pageId, pageId, ageMs: 0, url: `https://x.io${path}` }]
    const json = { businessId, visitorId, hits }
    expect((await speak('POST', '/api/sdk/browser/capture', { json, headers: BROWSER })).status).toBe(200)
  }
  await capture('early', '/prices')
  const identity = { email: 'ann@x.io' }
  const { body } = await client.ask('POST', '/api/sdk/identify', { identity, visitorId })
  await capture('other', '/about')
  await capture('wanted', '/prices')
  await service.shipped()
  const shown = async () => (await resultOf(campaignId, { from })).result
  await vi.waitUntil(async () => (await shown())?.entered === 1, { timeout: PATIENCE_MS, interval: 500 })
  const result = await shown()
  expect(result?.samples.map(({ contactId }) => contactId)).toEqual([body.data['contactId']])
  expect(result?.approximations).toContain('web_identification')
})

describe('a time', () => {
  it('is of at most 366 days, and not of the future', async () => {
    const campaignId = await client.draft([])
    const now = Date.now()
    const issues = async (body: object) => {
      const answer = await post(campaignId, body)
      expect([answer.status, answer.body.error?.code]).toEqual([400, 'invalid_request'])
      return answer.body.error?.issues?.map(({ path, message }) => [path, message])
    }
    const words = 'must be an ISO 8601 date or date-time, or a number of epoch milliseconds, from 1970 until now'
    expect(await issues({ from: 'yesterday' })).toEqual([['from', `from ${words}`]])
    expect(await issues({ from: -1, to: now + DAY })).toEqual([
      ['from', `from ${words}`],
      ['to', `to ${words}`],
    ])
    expect(await issues({ from: 1000, to: 1000 })).toEqual([['to', 'to must be later than from']])
    expect(await issues({ from: 0, to: 366 * DAY + 1 })).toEqual([['to', 'to must be at most 366 days after from']])
    expect(await issues({})).toMatchObject([['from', expect.any(String)]])
    expect((await post(campaignId, { from: 0, to: 366 * DAY })).status).toBe(200)
  })
})

it('refuses what it does not know, and branches that cannot be tested', async () => {
  const campaignId = await client.draft([])
  for (const [method, path] of [
    ['POST', `/api/campaigns/${randomUUID()}/backtest`],
    ['GET', at(campaignId, randomUUID())],
    ['GET', at(campaignId, 'nonsense')],
    ['DELETE', at(campaignId, randomUUID())],
  ] as const) {
    const { status, body } = await client.ask(method, path, method === 'POST' ? { from: 0 } : undefined)
    expect([path, status, body.error?.code]).toEqual([path, 404, 'not_found'])
  }
  const rule = { segment: randomUUID(), operator: 'is_member' }
  const unknown = await client.draft([{ type: 'branch', rule, steps: [], otherwise: [] }])
  expect((await post(unknown, { from: Date.now() - 1000 })).body.error?.code).toBe('invalid_request')
})

it('is cancelled, or has ended before', async () => {
  const campaignId = await client.draft([])
  const backtestId = await start(campaignId, { from: Date.now() - HOUR })
  const answer = await client.ask('DELETE', at(campaignId, backtestId))
  const { status } = dataOf(BacktestData, answer)['backtest'] as Backtest
  expect(['done', 'cancelled']).toContain(status)
  expect((await read(campaignId, backtestId)).status).toBe(status)
})

it('refuses a third one of a business, and a second one of a campaign', async () => {
  const campaigns = await Promise.all([0, 1, 2].map(() => client.draft([])))
  const running = `sluice:{${client.tenant.businessId}}:backtests-running`
  const refusal = async (campaignId: string) => {
    const { status, body } = await post(campaignId, { from: Date.now() - HOUR })
    return [status, body.error?.code, body.message]
  }
  await service.redis.zadd(running, Date.now() + 60_000, `${campaigns[0]}:${randomUUID()}`)
  expect(await refusal(campaigns[0]!)).toEqual([
    409,
    'limit_reached',
    'A backtest of this campaign is running. Wait for its end, or cancel it.',
  ])
  await service.redis.zadd(running, Date.now() + 60_000, `${campaigns[1]}:${randomUUID()}`)
  expect(await refusal(campaigns[2]!)).toEqual([
    409,
    'limit_reached',
    'The business has 2 backtests that are running. Wait for the end of one, or cancel it.',
  ])
})
