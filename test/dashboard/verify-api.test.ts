/** Compares the stores from the dashboard, with the real command in its own process. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { KINDS } from '../../src/admin/verify/kinds.ts'
import { listAudit } from '../../src/audit/audit.ts'
import { texts } from '../../src/dashboard/src/texts/en/operations.ts'
import { beginRun, endRun, readRuns, reportRun, withoutResult } from '../../src/verify-runs/verify-runs.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Service, openService, startService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

const BOSS = { kind: 'user', id: 'boss', name: 'boss@x.io' } as const
let service: Service
let operator: SessionClient
let business: TestBusiness
beforeAll(async () => {
  service = await openService({}, { ownClickHouse: true })
  business = await createBusiness(service.sql)
  await addUser(service.sql, 'boss@x.io', { isOperator: true })
  await addUser(service.sql, 'owner@x.io', { businessId: business.businessId, role: 'owner' })
  operator = await signIn(service, 'boss@x.io')
  await record('signup', 'ann@x.io')
  await service.shipped()
})
afterAll(() => service.close())
afterEach(() => service.sql`delete from verify_runs`)

async function record(event: string, email: string): Promise<void> {
  const answer = await fetch(`${service.url}/api/sdk/track`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ event, identity: { email } }),
  })
  expect(answer.status).toBe(200)
}

interface Runs {
  running: { contacts: number; isStopping: boolean; startedBy: string } | null
  last: {
    agree: boolean | null
    reason: string | null
    contacts: number
    found: { kind: string; count: number }[]
  } | null
}
const read = async () => (await operator.send('GET', '/operations/verify')).data as unknown as Runs
const start = (client = operator) => client.send('POST', '/operations/verify')

async function ended(): Promise<NonNullable<Runs['last']>> {
  const deadline = Date.now() + PATIENCE_MS
  while (Date.now() < deadline) {
    const { running, last } = await read()
    if (running === null && last !== null) return last
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the comparison has not ended')
}

it('compares in the background, and keeps the result', async () => {
  expect(await read()).toEqual({ running: null, last: null })
  expect((await start()).status).toBe(200)
  expect((await read()).running).toMatchObject({ startedBy: 'boss@x.io', isStopping: false })
  const { code, status } = await start()
  expect([status, code]).toEqual([409, 'locked'])
  expect(await ended()).toMatchObject({ agree: true, reason: null, contacts: 1, found: [], startedBy: 'boss@x.io' })
  const [entry, ...others] = await listAudit(service.sql, { businessId: null, before: null, limit: 10 })
  expect(entry).toMatchObject({ action: 'stores.verify', actorName: 'boss@x.io' })
  expect(others).toEqual([])
}, 120_000)

it('shows the differences by kind, and repairs nothing', async () => {
  await service.clickhouse.command({
    query: `alter table events delete where business_id = '${business.businessId}'`,
    clickhouse_settings: { mutations_sync: '2' },
  })
  await start()
  const { agree, found } = await ended()
  expect(agree).toBe(false)
  expect(found).toContainEqual({ kind: 'events', count: 1 })
  await start()
  expect((await ended()).found).toEqual(found)
}, 120_000)

it('runs once when several operators start it at the same time', async () => {
  const answers = await Promise.all(Array.from({ length: 4 }, () => start()))
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409])
  await ended()
}, 120_000)

it('ends when an operator stops it', async () => {
  expect((await operator.send('POST', '/operations/verify/stop')).code).toBe('not_found')
  await start()
  expect((await operator.send('POST', '/operations/verify/stop')).status).toBe(200)
  await ended()
  const [entry] = await listAudit(service.sql, { businessId: null, before: null, limit: 1 })
  expect(entry).toMatchObject({ action: 'stores.verify-stop', actorName: 'boss@x.io' })
}, 120_000)

it('ends with its front door', async () => {
  const another = await startService(service)
  const client = await signIn({ ...service, url: another.url }, 'boss@x.io')
  await start(client)
  await another.stop()
  expect((await read()).running).toBeNull()
  expect((await read()).last).not.toBeNull()
}, 120_000)

it('is over when its front door is gone, and the next one can begin', async () => {
  const id = await beginRun(service.sql, BOSS)
  expect(await beginRun(service.sql, BOSS)).toBeNull()
  await service.sql`update verify_runs set reported_at = now() - interval '59 seconds'`
  expect((await readRuns(service.sql)).running).not.toBeNull()
  await service.sql`update verify_runs set reported_at = now() - interval '61 seconds'`
  expect(await read()).toMatchObject({
    running: null,
    last: { agree: null, reason: expect.stringContaining('ended') as string },
  })
  expect(await beginRun(service.sql, BOSS)).not.toBeNull()
  // It only slept. Now it must stop, and its result no longer counts.
  expect(await reportRun(service.sql, id ?? '', { contacts: 1, totalContacts: 1, activity: '' })).toBe(false)
  await endRun(service.sql, id ?? '', withoutResult('late'))
  expect((await readRuns(service.sql)).last?.result?.reason).toContain('front door')
})

it('keeps twenty runs', async () => {
  for (let n = 0; n < 22; n += 1) {
    await endRun(service.sql, (await beginRun(service.sql, BOSS)) ?? '', withoutResult(`run ${n}`))
  }
  const [{ runs }] = await service.sql<[{ runs: number }]>`select count(*)::int as runs from verify_runs`
  expect(runs).toBe(20)
  expect((await readRuns(service.sql)).last?.result?.reason).toBe('run 21')
})

it('is for operators alone', async () => {
  const owner = await signIn(service, 'owner@x.io')
  const answers = [
    await owner.send('GET', '/operations/verify'),
    await start(owner),
    await owner.send('POST', '/operations/verify/stop'),
  ]
  expect(answers.map(({ code }) => code)).toEqual(Array(3).fill('not_permitted'))
})

it('the page has words for every kind of difference', () => {
  expect(Object.keys(texts.kinds).toSorted()).toEqual(Object.keys(KINDS).toSorted())
})
