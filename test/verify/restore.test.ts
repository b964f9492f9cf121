// @long
/**
 * Stores that are restored from backups: all of them, and only Postgres. Lost data is detected, and nothing is
 * duplicated.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { uuidv7 } from 'uuidv7'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { recover as recoverDirectly, type Recovered } from '../../src/admin/recover/recover.ts'
import { readConfig } from '../../src/config.ts'
import { createLogger } from '../../src/log.ts'
import { migrate } from '../../src/migrate/migrate.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { startService, untilShipped } from '../support/service.ts'
import { createBusiness, openStack, type Stack, type TestBusiness } from '../support/stack.ts'
import { backUpClickHouse, backUpPostgres, restoreClickHouse, restorePostgres } from './restore-lab.ts'
import { verifyStack } from './verify-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let stack: Stack
let shop: TestBusiness
let service: Awaited<ReturnType<typeof startService>>
let directory = ''

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-restore-'))
  stack = await openStack({ DATA_DIR: directory, LEASE_MS: '2000' }, { ownClickHouse: true })
  shop = await createBusiness(stack.sql)
  service = await startService(stack)
})
afterEach(async () => {
  await service?.stop()
  await stack?.close()
  rmSync(directory, { recursive: true, force: true })
})

async function call(method: string, path: string, body?: object) {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, ...((await response.json()) as { data: Record<string, unknown> }) }
}

const track = (body: object) => call('POST', '/api/sdk/track', body)

const figuresOf = async (identity: string) => {
  const { data } = await call('GET', `/api/contacts?${identity}`)
  const [contact] = data['contacts'] as Record<string, unknown>[]
  if (!contact) return null
  const { revenue, orderCount, events, identities } = contact
  const byName = (events as { event: string }[]).toSorted((a, b) => (a.event < b.event ? -1 : 1))
  return { revenue, orderCount, events: byName, identities }
}

const prepare = () => migrate(stack.sql, stack.clickhouse, createLogger({ level: 'silent', name: 'test' }))

test.each(['kept', 'empty'])(
  'all stores, from backups taken in order while traffic ran, with Redis %s: all agrees, and each key counts once',
  async (redis) => {
    const keys: string[] = []
    let isOver = false
    const buy = (key: string) =>
      track({
        event: 'bought',
        type: 'purchase',
        value: 1,
        identity: { email: `${key.slice(-2)}@x.io` },
        idempotencyKey: key,
      })
    const statuses = new Set<number>()
    const send = async () => {
      while (!isOver) {
        const key = uuidv7()
        statuses.add((await buy(key)).status)
        keys.push(key)
      }
    }
    const traffic = [send(), send(), send()]
    const untilSent = (count: number) => vi.waitUntil(() => keys.length >= count, { timeout: PATIENCE_MS })
    await untilSent(100)
    await backUpClickHouse(stack)
    await untilSent(200)
    const backup = await backUpPostgres(stack)
    await untilSent(300)
    isOver = true
    await Promise.all(traffic)
    expect([...statuses]).toEqual([200])
    await service.stop()
    await restoreClickHouse(stack)
    await restorePostgres(stack, backup)
    if (redis === 'empty') await stack.redis.flushdb()

    await prepare()
    expect(await verifyStack(stack, '--repair')).toMatchObject({ exitCode: 0, differences: [] })
    expect(await verifyStack(stack, '--repair')).toMatchObject({ exitCode: 0, repaired: { saves: 0, contacts: 0 } })
    // Redis knows that it has deleted what this Postgres lacks.
    if (redis === 'kept') expect(await recover()).toMatchObject({ exitCode: 0, files: [] })
    service = await startService(stack)
    const [{ held }] = await stack.sql<[{ held: number }]>`select count(*)::int as held from idempotency_keys`
    expect(held).toBeGreaterThanOrEqual(200)
    const again = await Promise.all(keys.map(buy))
    expect(new Set(again.map(({ status }) => status))).toEqual(new Set([200]))
    expect(again.filter(({ data }) => data['deduped'] === true)).toHaveLength(held)
    expect(await track({ event: 'lesson', identity: { email: 'new@x.io' } })).toMatchObject({ status: 200 })
    const [{ bought }] = await stack.sql<[{ bought: number }]>`
      select sum(count)::int as bought from event_statistics where event = 'bought'`
    expect(bought).toBe(keys.length)
    await untilShipped(stack)
    expect(await verifyStack(stack)).toMatchObject({ exitCode: 0, differences: [] })
  },
)

const purchase = (email: string, value: number, more: object = {}) =>
  track({ event: 'bought', type: 'purchase', value, currency: 'EUR', identity: { email }, ...more })

/** Makes the events before the backup, and then those that it does not contain. */
async function makePast() {
  await purchase('ann@x.io', 10)
  await purchase('bob@x.io', 20, { identity: { email: 'bob@x.io', platformCustomerId: 'B' } })
  await track({ event: 'lesson', identity: { phone: '+15005550006' } })
  const { data } = await purchase('eve@x.io', 30)
  await untilShipped(stack)
  const backup = await backUpPostgres(stack)
  await purchase('ann@x.io', 1.1, { idempotencyKey: 'ann-1', properties: { why: '"ü"', deep: { n: [1] } } })
  await track({ event: 'lesson', identity: { email: 'ann@x.io' }, occurredAt: '1999-12-31T23:59:59.123Z' })
  await track({ event: 'returned', type: 'refund', value: 0.1, currency: 'EUR', identity: { email: 'ann@x.io' } })
  await purchase('new@x.io', 7)
  await track({ event: 'lesson', identity: { email: 'new@x.io', phone: '+15005550007' } })
  // Bob turns out to have the phone: two contacts become one.
  await track({ event: 'lesson', identity: { platformCustomerId: 'B', phone: '+15005550006' } })
  await purchase('bob@x.io', 2)
  const visitorId = `v_${uuidv7().replaceAll('-', '')}`
  await call('POST', '/api/sdk/identify', { identity: { email: 'ann@x.io' }, visitorId })
  await purchase('eve@x.io', 3)
  expect((await call('DELETE', `/api/contacts/${String(data['contactId'])}`)).status).toBe(200)
  await purchase('gone@x.io', 4)
  const gone = await call('GET', '/api/contacts?email=gone@x.io')
  const [{ contactId }] = gone.data['contacts'] as [{ contactId: string }]
  await call('DELETE', `/api/contacts/${contactId}`)
  await untilShipped(stack)
  await vi.waitUntil(async () => (await stack.sql`select from erasures where deleted_at is null`).length === 0, {
    timeout: PATIENCE_MS,
    interval: 100,
  })
  return backup
}

/** Events since the backup, of people who were not erased. */
const LOST = 7
const PEOPLE = ['email=ann@x.io', 'email=bob@x.io', 'email=new@x.io', 'email=eve@x.io', 'email=gone@x.io']
const readFigures = () => Promise.all(PEOPLE.map(figuresOf))

const recover = async (...words: string[]) => {
  const { exitCode, out } = await runAdminQuietly(['recover', '--json', ...words], stack.config)
  return { exitCode, ...(JSON.parse(out) as Recovered & { error?: { code: string; message: string } }) }
}

const importFile = (file: string) => {
  const config = { ...stack.config, ...pick(readConfig({ LOG_LEVEL: 'silent', DATA_DIR: directory })) }
  const words = ['import', file, '--business', shop.businessId, '--key', shop.secretKey, '--url', service.url, '--json']
  return runAdminQuietly(words, config)
}
const pick = ({ dataDir }: { dataDir: string }) => ({ dataDir })

/** In the order in which a recovery deletes from these tables. */
const DELETED_FROM = [
  'events',
  'event_statistics',
  'contact_redirects',
  'contact_snapshots',
  'visitor_links',
  'visitor_touches',
  'visitors',
]

/** Runs a recovery that dies just before or after its first deletion from a table. */
async function endRecovery(table: string, when: 'before' | 'after'): Promise<unknown> {
  const { clickhouse } = stack
  const command = async (params: Parameters<typeof clickhouse.command>[0]) => {
    const isIt = params.query.startsWith(`alter table ${table} delete where business_id`)
    if (isIt && when === 'before') throw new Error('ended')
    const done = await clickhouse.command(params)
    if (isIt) throw new Error('ended')
    return done
  }
  const nothing = () => undefined
  return recoverDirectly({
    ...stack,
    clickhouse: Object.assign(Object.create(clickhouse) as typeof clickhouse, { command }),
    writer: stack.sql,
    log: createLogger({ level: 'silent', name: 'test' }),
    signal: new AbortController().signal,
    showStatus: nothing,
    startedAt: new Date(),
    directory: join(directory, 'recovered'),
    sliceSize: 1000,
  }).catch((error: unknown) => error)
}

test('a recovery that is ended before its first deletion and after each one loses and doubles nothing', async () => {
  const backup = await makePast()
  const before = await readFigures()
  await service.stop()
  await restorePostgres(stack, backup)
  const ends = [['events', 'before'] as const, ...DELETED_FROM.map((table) => [table, 'after'] as const)]
  for (const [table, when] of ends)
    expect([table, when, await endRecovery(table, when)]).toEqual([table, when, new Error('ended')])
  expect(await recover()).toMatchObject({ exitCode: 0 })
  expect(await verifyStack(stack, '--repair')).toMatchObject({ exitCode: 0, differences: [] })
  service = await startService(stack)
  const { exitCode, out } = await importFile(join(directory, 'recovered', `${shop.businessId}.ndjson`))
  expect([exitCode, JSON.parse(out)]).toMatchObject([0, { recorded: LOST, failed: 0 }])
  expect(await readFigures()).toEqual(before)
})

test('when only Postgres is restored, older than ClickHouse, its lost events are saved and imported, and an erasure stays', async () => {
  const backup = await makePast()
  const before = await readFigures()
  expect(before[3]).toBeNull()
  expect(await recover()).toMatchObject({ exitCode: 1, error: { code: 'workers_running' } })
  await service.stop()
  await restorePostgres(stack, backup)
  await prepare()

  // A repair before the recovery destroys no evidence, and prints the next steps.
  const { exitCode, out } = await runAdminQuietly(['verify'], stack.config)
  expect([exitCode, out]).toEqual([1, expect.stringContaining('then run admin recover')])
  const first = await verifyStack(stack, '--repair')
  expect(first).toMatchObject({ exitCode: 1, repaired: { corrected: 0, keys: 0 } })
  const second = await verifyStack(stack, '--repair')
  expect(second.found).toEqual(first.found)

  const recovered = await recover()
  expect(recovered).toMatchObject({
    exitCode: 0,
    erasures: 1,
    files: [{ businessId: shop.businessId, withoutIdentity: 0 }],
  })
  const [{ file, events }] = recovered.files as unknown as [{ file: string; events: number }]
  expect(events).toBe(LOST)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(lines).toHaveLength(LOST)
  expect(lines.join('\n')).not.toMatch(/eve@|gone@/)
  for (const again of [1, 2])
    expect([again, await verifyStack(stack, '--repair')]).toMatchObject([again, { exitCode: 0, differences: [] }])
  expect(await recover()).toMatchObject({ exitCode: 0, erasures: 0, contacts: 0, visitors: 0, files: [] })

  service = await startService(stack)
  const imported = await importFile(file)
  expect(imported).toMatchObject({ exitCode: 0 })
  expect(JSON.parse(imported.out)).toMatchObject({ recorded: LOST, failed: 0 })
  expect(await readFigures()).toEqual(before)
  expect(await purchase('ann@x.io', 1.1, { idempotencyKey: 'ann-1' })).toMatchObject({ data: { deduped: true } })
  expect(JSON.parse((await importFile(file)).out)).toMatchObject({ recorded: 0, deduped: LOST })
  await untilShipped(stack)
  expect(await verifyStack(stack)).toMatchObject({ exitCode: 0, differences: [] })
})
