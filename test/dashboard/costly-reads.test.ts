/** Costly reads of a business: two run, ten wait, and more are refused. A closed page gives up its place. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { MAX_CONCURRENT } from '../../src/front-door/access/concurrency-limit.ts'
import { queryWithRetry } from '../../src/timeline/reading/query-with-retry.ts'
import { createLogger } from '../../src/log.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'

let service: Service
let businessId: string
let client: SessionClient
beforeAll(async () => {
  service = await openService({}, { ownClickHouse: true })
  ;({ businessId } = await createBusiness(service.sql))
  await addUser(service.sql, 'ann@x.io', { businessId, role: 'owner' })
  client = await signIn(service, 'ann@x.io')
})
afterAll(() => service.close())

const get = (path: string, signal?: AbortSignal) =>
  fetch(`${service.url}/dashboard/api/b/${businessId}${path}`, {
    headers: { Cookie: client.cookie() },
    ...(signal && { signal }),
  })

/** Nothing reads contacts until the returned function is called. */
async function holdContacts(): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>()
  const held = service.sql.begin(async (tx) => {
    await tx`lock table contacts in access exclusive mode`
    isLocked()
    await released
  })
  await locked
  return async () => {
    release()
    await held
  }
}

/** Until `count` sessions of Postgres wait for the lock: the others wait in the front door. */
const untilBlocked = (count: number) =>
  expect
    .poll(async () => {
      const [row] = await service.sql<{ n: number }[]>`
        select count(*)::int as n from pg_locks
        where not granted and relation = 'contacts'::regclass and database = (select oid from pg_database where datname = current_database())`
      return row?.n
    })
    .toBe(count)

let sent = 0
/** Sends requests that share no read. `statuses` has those of the answers so far. */
function send(count: number, signal?: AbortSignal): { statuses: number[]; all: Promise<unknown> } {
  const statuses: number[] = []
  const all = Array.from({ length: count }, async () => {
    const answer = await get(`/contacts/count?tag=t${(sent += 1)}`, signal).catch(() => null)
    await answer?.arrayBuffer()
    if (answer !== null) statuses.push(answer.status)
  })
  return { statuses, all: Promise.all(all) }
}
const WAIT = { timeout: PATIENCE_MS }

it('two run, ten wait, and the next is refused; quick ones are answered meanwhile', async () => {
  const release = await holdContacts()
  const running = send(2)
  await untilBlocked(2)
  const others = send(13)
  await expect.poll(() => others.statuses, WAIT).toEqual([429, 429, 429])
  expect((await get('/contacts/count')).headers.get('retry-after')).toBe('1')
  expect((await get('/contact-filters')).status).toBe(200)
  await release()
  await Promise.all([running.all, others.all])
  expect([...running.statuses, ...others.statuses.slice(3)]).toEqual(Array.from({ length: 12 }, () => 200))
})

it('a read that all of a business share takes no slot', async () => {
  const release = await holdContacts()
  const statuses: Record<string, number> = {}
  const ask = async (path: string) => {
    statuses[path] = (await get(path)).status
  }
  // None of them is costly: together they hold all slots of the dashboard.
  const running = ['/contacts?limit=1', '/contacts?limit=2', '/contacts?limit=3'].map(ask)
  await untilBlocked(MAX_CONCURRENT.dashboard)
  const waiting = ask('/contact-filters')
  await ask('/analytics/web/live')
  expect(statuses).toEqual({ '/analytics/web/live': 200 })
  await release()
  await Promise.all([...running, waiting])
  expect(statuses['/contact-filters']).toBe(200)
})

it('a page that is closed makes room for another', async () => {
  const release = await holdContacts()
  const running = send(2)
  await untilBlocked(2)
  const closing = new AbortController()
  const left = send(11, closing.signal)
  await expect.poll(() => left.statuses, WAIT).toEqual([429])
  closing.abort()
  await left.all
  const waits = async () => {
    const next = send(1)
    await Promise.race([next.all, sleep(300)])
    return next.statuses.length === 0
  }
  // The server notices a closed connection a moment later.
  await expect.poll(waits, WAIT).toBe(true)
  await release()
  await running.all
  expect(running.statuses).toEqual([200, 200])
})

/** Charts read events slowly, each event a million times, until the returned function is called. */
async function slowDownEvents(): Promise<() => Promise<void>> {
  const { clickhouse } = service
  const command = (query: string) => clickhouse.command({ query })
  await command('rename table events to events_aside')
  await command('create view events as select kept.* from events_aside as kept cross join numbers(1000000) as times')
  return async () => {
    await command('drop view events')
    await command('rename table events_aside to events')
  }
}

it('a chart that nobody waits for is not computed to its end, and leaves its place', async () => {
  await service.clickhouse.command({
    query: `insert into events (business_id, contact_id, event_id, event, occurred_ms)
      select '${businessId}', generateUUIDv4(number), generateUUIDv4(number + 1000), 'a', toInt64(${Date.now()}) - number
      from numbers(4000)`,
  })
  const restore = await slowDownEvents()
  const running = async () => {
    const result = await service.clickhouse.query({
      query: `select query_id from system.processes where query like '%roundDown(occurred_ms%'
        and query not like '%system.processes%' and is_cancelled = 0`,
      format: 'JSONEachRow',
    })
    return (await result.json()).length
  }
  const closing = new AbortController()
  const charts = [1, 2].map(() => get('/analytics/series', closing.signal).catch(() => null))
  await expect.poll(running, WAIT).toBe(2)
  closing.abort()
  await Promise.all(charts)
  await expect.poll(running, { timeout: atLoad(1000) }).toBe(0)
  await restore()
  expect((await get('/analytics/series')).status).toBe(200)
})

it('the number of visitors of this moment is kept for some seconds', async () => {
  const askLive = async () =>
    ((await (await get('/analytics/web/live')).json()) as { data: { live: number } }).data.live
  const insertHit = () =>
    service.clickhouse.command({
      query: `insert into web_events (business_id, visitor_id, hit_id, kind, page_id, occurred_ms, received_ms)
        values ('${businessId}', 'a', 'a', 'page_view', 'a', ${Date.now()}, ${Date.now()})`,
    })
  const found = await askLive()
  await insertHit()
  expect([found, await askLive()]).toEqual([0, 0])
  await expect.poll(askLive, WAIT).toBe(1)
})

/**
 * When a connection is closed, ClickHouse stops only queries that are `readonly` and have the setting. The engine that
 * comes with Sluice does so, too.
 */
it('closes the connection of a query that nobody waits for, and asks ClickHouse to stop it', async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<string>()
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  const silent = createServer((request) => {
    if (!request.url?.includes('ping')) arrive(request.url ?? '')
    request.socket.on('close', () => close())
  })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const clickhouse = connectClickHouse(`http://127.0.0.1:${port}`)
  const closing = new AbortController()
  const deps = { clickhouse, log: createLogger({ level: 'silent', name: 'test' }), signal: closing.signal }
  const read = queryWithRetry(deps, { ms: 60_000, whileAliveMs: 60_000 }, (abort_signal) =>
    clickhouse.query({ query: 'select 1', abort_signal }),
  )
  const settings = new URL(await arrived, 'http://localhost').searchParams
  expect(settings.get('cancel_http_readonly_queries_on_client_close')).toBe('1')
  expect(settings.get('readonly')).toBe('2')
  closing.abort()
  expect(await read).toBeUndefined()
  await closed
  await clickhouse.close()
  silent.close()
})
