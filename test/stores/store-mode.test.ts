// @long
/** Stores that answer but cannot be used are refused at the start, by the name of their variable. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { runWorkers } from '../../workers/main.ts'
import { readConfig } from '../../src/config.ts'
import { runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { freePort } from '../../src/embedded/processes/run-engine.ts'
import { requireDurableRedis, requireRedisServer } from '../../src/stores/redis-durability.ts'
import { requireStores } from '../../src/stores/require-stores.ts'
import { splitHosts } from '../../src/stores/find-primary.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { readDisks } from '../../src/embedded/read-disks.ts'
import { type PostgresPair, startPostgresPair } from '../support/postgres-pair.ts'
import { type OwnRedis, startOwnRedis } from '../workers/own-redis.ts'
import { openStack, type Stack } from '../support/stack.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function redisWith(...options: string[]): Promise<OwnRedis> {
  const redis = await startOwnRedis(options)
  closing.push(redis.close)
  return redis
}

async function startSentinel(): Promise<string> {
  const primary = await redisWith()
  const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), 'sluice-sentinel-'))]
  const file = join(folder, 'sentinel.conf')
  await writeFile(
    file,
    `port ${port}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor main 127.0.0.1 ${primary.port} 1\n`,
  )
  const child: ChildProcess = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  closing.push(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
    await rm(folder, { recursive: true, force: true })
  })
  await sleep(1000)
  return `redis://127.0.0.1:${port}`
}

const MODES: Record<string, { start: () => Promise<string>; error: RegExp }> = {
  'a node of a Redis Cluster': {
    start: async () => (await redisWith('--cluster-enabled', 'yes')).url,
    error:
      /^Redis \(REDIS_URL, 127\.0\.0\.1:\d+\) is a node of a cluster\. Give a single server, a Sentinel, or several servers: docs\/deploy\.md\.$/,
  },
  'a Sentinel': {
    start: startSentinel,
    error: /^Redis \(REDIS_URL, 127\.0\.0\.1:\d+\) is a Sentinel, which keeps no data\. /,
  },
  'a read-only replica': {
    start: async () => (await redisWith('--replicaof', `127.0.0.1 ${(await redisWith()).port}`)).url,
    error: /^Redis \(REDIS_URL, 127\.0\.0\.1:\d+\) is a read-only replica\. /,
  },
}

describe.each(Object.entries(MODES))('%s', (_, { start, error }) => {
  it('is refused by start, migrate, serve and workers', async () => {
    const stack: Stack = await openStack()
    closing.push(stack.close)
    const redisUrl = await start()
    const config = { ...stack.config, redisUrl }
    await expect(requireStores(config, { redisUrl })).rejects.toThrow(error)
    await expect(requireRedisServer(config, redisUrl)).rejects.toThrow(error)
    await expect(requireDurableRedis({ ...config, allowVolatileRedis: true }, redisUrl)).rejects.toThrow(error)
    await expect(runFrontDoor(config)).rejects.toThrow(error)
    await expect(runWorkers(config)).rejects.toThrow(error)
  })
})

describe('a list of hosts', () => {
  it.each(['REDIS_URL', 'CLICKHOUSE_URL', 'PUBLIC_URL', 'SYSTEM_SMTP_URL'])('is refused in %s', (name) => {
    const scheme = { REDIS_URL: 'redis', SYSTEM_SMTP_URL: 'smtp' }[name] ?? 'http'
    expect(() => readConfig({ [name]: `${scheme}://a:1,b:2` })).toThrow(new RegExp(`^${name} must be a URL`))
  })

  it.each([
    [
      'postgres://u:p@a:1,b/db?x=1',
      'postgres://u:p@a:1/db?x=1',
      [
        ['a', 1],
        ['b', 5432],
      ],
    ],
    [
      'postgres://u:p@[::1]:1,b:2/db',
      'postgres://u:p@[::1]:1/db',
      [
        ['::1', 1],
        ['b', 2],
      ],
    ],
    [
      'postgres://u@a,b/db?target_session_attrs=read-write&x=1',
      'postgres://u@a/db?x=1',
      [
        ['a', 5432],
        ['b', 5432],
      ],
    ],
    [
      'postgres://u@a,b/db?x=1&target_session_attrs=primary',
      'postgres://u@a/db?x=1',
      [
        ['a', 5432],
        ['b', 5432],
      ],
    ],
    ['postgres://a/db', 'postgres://a/db', []],
  ] as const)('%s is split', (url, single, hosts) => {
    expect(splitHosts(url)).toEqual({ url: single, hosts: hosts.map(([host, port]) => ({ host, port })) })
  })

  it('does not stand in the way of reading the disks', async () => {
    const urls = { databaseUrl: 'postgres://a,b/db', redisUrl: 'redis://a', clickhouseUrl: 'http://a' }
    expect(await readDisks(tmpdir(), urls)).toEqual([])
  })
})

describe('a standby of Postgres', () => {
  let pair: PostgresPair
  const open = async () => {
    pair = await startPostgresPair()
    closing.push(pair.close)
  }

  it('alone is refused after 10 s by migrate, serve and workers', async () => {
    await open()
    const redis = await redisWith()
    const config = readConfig({
      DATABASE_URL: pair.standbyUrl,
      REDIS_URL: redis.url,
      CLICKHOUSE_URL: 'http://127.0.0.1:9',
      LOG_LEVEL: 'silent',
      PORT: '0',
    })
    const error = /^Postgres \(DATABASE_URL, 127\.0\.0\.1:\d+\) is a standby\. Give the address of the primary/
    const started = performance.now()
    await Promise.all([
      expect(requireStores(config, { databaseUrl: pair.standbyUrl })).rejects.toThrow(error),
      expect(runFrontDoor(config)).rejects.toThrow(error),
      expect(runWorkers(config)).rejects.toThrow(error),
    ])
    expect(performance.now() - started).toBeGreaterThan(10_000)
  }, 60_000)

  it('beside its primary is passed over, also while the other is away, and after its promotion it is found', async () => {
    await open()
    const sql = connectPostgres(pair.url, { max: 8 })
    closing.push(() => sql.end({ timeout: 1 }))
    const ports = async () => {
      const rows = await Promise.all(
        Array.from(
          { length: 8 },
          () => sql<[{ port: number; standby: boolean }]>`
          select inet_server_port() as port, pg_is_in_recovery() as standby from pg_sleep(0.1)`,
        ),
      )
      return new Set(rows.map(([{ port, standby }]) => `${port} ${standby}`))
    }
    const portOf = (url: string) => new URL(url).port
    expect(await ports()).toEqual(new Set([`${portOf(pair.primaryUrl)} false`]))
    await pair.killPrimary()
    await pair.promote()
    await expect
      .poll(() => ports().catch(() => undefined), { timeout: 30_000, interval: 500 })
      .toEqual(new Set([`${portOf(pair.standbyUrl)} false`]))
  }, 60_000)
})
