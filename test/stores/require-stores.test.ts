/** Stores in the states that an operator may meet: just starting, refusing connections, or named in various ways. */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, inject, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { hostOf, requireStores } from '../../src/stores/require-stores.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

/** Starts a ClickHouse that gives these answers, and counts the requests to it. */
async function openClickHouse(answer: (asked: number) => RequestListener) {
  let asked = 0
  const server = createServer((...exchange) => answer((asked += 1))(...exchange))
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const clickhouseUrl = `http://user:secret@${place}/db`
  const config = readConfig({ CLICKHOUSE_URL: clickhouseUrl })
  return { place, asked: () => asked, required: requireStores(config, { clickhouseUrl }) }
}

it('one that is just starting is waited for', async () => {
  const { asked, required } = await openClickHouse(
    (count) => (request, response) => void (count === 1 ? request.socket.destroy() : response.end('1\n')),
  )
  await required
  expect(asked()).toBe(2)
})

it('one that refuses is not waited for, and the error quotes it', async () => {
  const { asked, place, required } = await openClickHouse(
    () => (_, response) => void response.writeHead(403).end('Code: 516. DB::Exception: user: Authentication failed.'),
  )
  await expect(required).rejects.toThrow(
    new RegExp(`^ClickHouse \\(CLICKHOUSE_URL, ${place}\\) rejected the connection: .*failed`),
  )
  await expect(required).rejects.not.toThrow('secret')
  expect(asked()).toBe(1)
})

it('a password that Redis and Postgres do not know is reported at once', async () => {
  const wrong = (url: string) => url.replace(/:[^:@]*@/, ':secret@')
  const { databaseUrl, redisUrl } = inject('stores')
  const config = readConfig({ DATABASE_URL: wrong(databaseUrl), REDIS_URL: wrong(redisUrl) })
  const required = requireStores(config, { databaseUrl: config.databaseUrl ?? '', redisUrl: config.redisUrl ?? '' })
  await expect(required).rejects.toThrow(
    /^Postgres \(DATABASE_URL, 127\.0\.0\.1:\d+\) rejected the connection: password.*\nRedis \(REDIS_URL, 127\.0\.0\.1:\d+\) rejected the connection: WRONGPASS.*$/,
  )
  await expect(required).rejects.not.toThrow('secret')
})

it('stores that answer pass', async () => {
  const { databaseUrl, redisUrl, clickhouseUrl } = inject('stores')
  await requireStores(readConfig({}), { databaseUrl, redisUrl, clickhouseUrl })
})

it.each([
  ['postgres://user:p%40ss@host/db', 'host'],
  ['postgres://user:p@ss@one:5432,two:5433/db?sslmode=require', 'one:5432,two:5433'],
  ['redis://[::1]:6379', '[::1]:6379'],
  ['http://host:8123?database=a@b', 'host:8123'],
  ['postgres:///db', ''],
])('%s is at %j', (url, place) => {
  expect(hostOf(url)).toBe(place)
})
