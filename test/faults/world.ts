/**
 * Runs the product as in production: every part in its own process, on private ports and below a temporary directory.
 */
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type StoreUrls, enginesFile } from '../../src/stores/data-dir.ts'
import { ANALYST } from '../../src/embedded/clickhouse/analyst-role.ts'
import { analystUrl, startClickHouse } from '../../src/embedded/clickhouse/clickhouse.ts'
import type { EngineSetup, RunningEngine } from '../../src/embedded/engine-setup.ts'
import { passwordFile } from '../../src/embedded/engine-setup.ts'
import { startPostgres } from '../../src/embedded/postgres/postgres.ts'
import { startRedis } from '../../src/embedded/redis/redis.ts'
import { environmentWithout } from '../../src/embedded/processes/engine-command.ts'
import {
  type EngineProcess,
  freePort,
  runEngine,
  runtimeCommand,
  untilReady,
} from '../../src/embedded/processes/run-engine.ts'
import { quietStep } from '../../src/embedded/start-steps.ts'
import { createLogger } from '../../src/log.ts'
import { migrate } from '../../src/migrate/migrate.ts'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { type Redis, connectRedis } from '../../src/stores/redis.ts'
import { partitionOf } from '../../src/stream/partitions/partition-of.ts'
import { streamKey } from '../../src/stream/keys.ts'
import { countWaiting } from '../support/count-waiting.ts'
import { type Business, createFaultsBusiness } from './create-businesses.ts'
import { type MessageSink, openMessageSink } from './message-sink.ts'
import { createRunFolder, keepRunFolder, removeLeftovers } from './remove-leftovers.ts'
import { type Handle, createHandle } from './run-process.ts'
import { unmountBelow } from './small-disk.ts'

export type { Business }

/** At the beginning, and after every scenario. */
export const PARTITIONS = 2
/** Short, so that a scenario reaches what follows the front door's timeout. */
export const ANSWER_TIMEOUT_MS = 2000
/** Time limit for starting and for coming to rest, on a busy machine. */
const PATIENCE_MS = 60_000

export interface World {
  folder: string
  /** Address of the front door. */
  url: string
  /** Addresses of the two workers' health pages. */
  workersUrls: string[]
  stores: StoreUrls
  /** Receives the messages of campaigns. */
  sink: MessageSink
  postgres: Handle
  redis: Handle
  clickhouse: Handle
  frontDoor: Handle
  workers: [Handle, Handle]
  /** Starts another workers process. */
  addWorkers(name: string): Promise<Handle>
  /** The test's own connections to the stores. */
  own: { sql: Sql; redis: Redis; clickhouse: ClickHouseClient }
  /** Restarts the front door with these additional settings. */
  restartFrontDoor(settings: Record<string, string>): Promise<void>
  /** Restarts the front door and the workers with these addresses of the stores instead of the real ones. */
  reroute(routes: Partial<ProxyRoutes>): Promise<void>
  /** Starts everything that is down. */
  heal(): Promise<void>
  /** Resolves when everything is at rest: streams empty, outbox shipped, erasures finished. */
  settle(timeoutMs?: number): Promise<void>
  /** `keep`: leaves the data and the logs in `folder`. */
  close(options?: { keep?: boolean }): Promise<void>
}

/** Addresses of the stores for the front door and for the workers. */
export interface ProxyRoutes {
  frontDoor: Partial<StoreUrls>
  workers: Partial<StoreUrls>
}

export async function openWorld(): Promise<World> {
  await removeLeftovers()
  const folder = await createRunFolder()
  await chmod(folder, 0o711)
  const log = createLogger({ level: 'warn', name: 'faults', to: 2 })
  const routes: ProxyRoutes = { frontDoor: {}, workers: {} }
  const stores = { databaseUrl: '', redisUrl: '', clickhouseUrl: '' }
  const url = `http://127.0.0.1:${await freePort()}`
  const workersUrls: string[] = []
  let frontDoorSettings: Record<string, string> = {}

  const engine = async (name: string, key: keyof StoreUrls, start: (setup: EngineSetup) => Promise<RunningEngine>) => {
    const { signal } = new AbortController()
    const port = await freePort()
    const setup = {
      dataDir: folder,
      port,
      password: 'faults',
      small: true,
      timeoutMs: PATIENCE_MS,
      signal,
      step: quietStep,
    }
    return createHandle(name, folder, async () => {
      const running = await start(setup)
      stores[key] = running.url
      return running
    })
  }
  const service = (
    name: string,
    command: string,
    address: string,
    of: keyof ProxyRoutes,
    more: () => Record<string, string>,
  ) =>
    createHandle(name, folder, () =>
      runService({
        name,
        folder,
        command,
        address,
        environment: { ...environmentOf({ ...stores, ...routes[of] }), ...more() },
      }),
    )
  const workers = async (name: string) => {
    const port = String(await freePort())
    workersUrls.push(`http://127.0.0.1:${port}`)
    return service(name, 'workers', `http://127.0.0.1:${port}/healthz`, 'workers', () => ({ WORKERS_PORT: port }))
  }
  await writeFile(passwordFile(folder), 'faults', { mode: 0o600 })
  await writeFile(passwordFile(folder, ANALYST), 'faults', { mode: 0o600 })
  const postgres = await engine('postgres', 'databaseUrl', (setup) => startPostgres(setup, log))
  const redis = await engine('redis', 'redisUrl', (setup) => startRedis(setup, log))
  const clickhouse = await engine('clickhouse', 'clickhouseUrl', (setup) => startClickHouse(setup, log))
  const frontDoor = service('front-door', 'serve', `${url}/healthz`, 'frontDoor', () => ({
    PORT: new URL(url).port,
    DRAIN_MS: '0',
    ...frontDoorSettings,
  }))
  const pair: [Handle, Handle] = [await workers('workers-a'), await workers('workers-b')]
  const engines = [postgres, redis, clickhouse]
  const services = [...pair, frontDoor]

  await Promise.all(engines.map((handle) => handle.start()))
  const own = {
    sql: connectPostgres(stores.databaseUrl, { name: 'faults' }),
    redis: connectRedis(stores.redisUrl, 'command'),
    clickhouse: connectClickHouse(stores.clickhouseUrl),
  }
  await migrate(own.sql, own.clickhouse, log, PARTITIONS)
  // For the SQL page.
  const { clickhouseUrl } = stores
  const clickhouseAnalystUrl = analystUrl(clickhouseUrl, 'faults')
  await writeFile(enginesFile(folder), JSON.stringify({ clickhouseUrl, clickhouseAnalystUrl }))
  await Promise.all(services.map((handle) => handle.start()))
  const sink = await openMessageSink()
  const world: World = {
    folder,
    sink,
    url,
    workersUrls: [...workersUrls],
    stores,
    postgres,
    redis,
    clickhouse,
    frontDoor,
    workers: pair,
    own,
    async addWorkers(name) {
      const added = await workers(name)
      services.push(added)
      await added.start()
      return added
    },
    async restartFrontDoor(settings) {
      frontDoorSettings = settings
      await frontDoor.stop()
      await frontDoor.start()
      await untilReadyToServe(url)
    },
    async reroute(to) {
      Object.assign(routes, { frontDoor: {}, workers: {}, ...to })
      const running = services.filter((handle) => handle.isRunning())
      for (const handle of running.toReversed()) await handle.stop()
      await Promise.all(running.map((handle) => handle.start()))
      await untilReadyToServe(url)
    },
    async heal() {
      for (const handle of [...engines, ...pair, frontDoor]) {
        await handle.resume()
        if (!handle.isRunning()) await handle.start()
      }
      await untilReadyToServe(url)
    },
    settle: (timeoutMs = PATIENCE_MS) => untilSettled(own, timeoutMs),
    async close({ keep = false } = {}) {
      for (const handle of [...services, ...engines]) await handle.resume()
      await Promise.all([own.sql.end({ timeout: 1 }), own.clickhouse.close()])
      own.redis.disconnect()
      await sink.close()
      await Promise.all(services.map((handle) => handle.kill()))
      await Promise.all([postgres.stop('SIGQUIT'), redis.kill(), clickhouse.kill()])
      await unmountBelow(folder)
      await (keep ? keepRunFolder(folder) : rm(folder, { recursive: true, force: true }))
    },
  }
  await untilReadyToServe(url)
  return world
}

const environmentOf = ({ databaseUrl, redisUrl, clickhouseUrl }: StoreUrls): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  CLICKHOUSE_URL: clickhouseUrl,
  HOST: '127.0.0.1',
  LOG_LEVEL: 'info',
  ANSWER_TIMEOUT_MS: String(ANSWER_TIMEOUT_MS),
  ALLOW_LOOPBACK_TARGETS: 'true',
  SECRETS_KEY: 'ab'.repeat(32),
  // Callers without a key come from many addresses.
  TRUST_PROXY: 'true',
})

interface Service {
  name: string
  folder: string
  command: string
  /** An address that answers when the service is up. */
  address: string
  environment: Record<string, string>
}

async function runService({ name, folder, command, address, environment }: Service): Promise<EngineProcess> {
  const settings = Object.entries({ ...environment, DATA_DIR: folder }).map(([key, value]) => `${key}=${value}`)
  const cli = runtimeCommand(new URL('../../src/cli.ts', import.meta.url), [command])
  const place = join(folder, `${name}.run`)
  await mkdir(place, { recursive: true })
  const engine = {
    name,
    dataDir: folder,
    folder: place,
    command: ['env', '-u', 'NODE_ENV', '-u', 'VITEST', ...settings, ...cli],
    environment: environmentWithout(),
    signal: 'TERM' as const,
  }
  const running = await runEngine(engine)
  await untilReady(engine, running, untilOk(address))
  return running
}

async function untilOk(url: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  let complaint = 'no answer'
  while (Date.now() < deadline) {
    const response = await fetch(url, { keepalive: false }).catch(() => undefined)
    if (response?.ok) return
    complaint = (await response?.text()) ?? complaint
    await sleep(50)
  }
  throw new Error(`${url} is not well after ${PATIENCE_MS} ms: ${complaint}`)
}

const untilReadyToServe = (url: string) => untilOk(`${url}/readyz`)

/** Creates at least `count` businesses, on every live partition. */
export async function createBusinesses({ own: { sql } }: World, count: number): Promise<Business[]> {
  const made: Business[] = []
  const covered = () => new Set(made.map(({ businessId }) => partitionOf('live', businessId, PARTITIONS))).size
  while (made.length < count || covered() < PARTITIONS) {
    made.push(await createFaultsBusiness(sql))
  }
  return made
}

async function untilSettled(own: World['own'], timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const left = await whatIsLeft(own).catch((error: Error) => error.message)
    if (left === undefined) return
    if (Date.now() > deadline) throw new Error(`Not settled after ${timeoutMs} ms: ${left}`)
    await sleep(50)
  }
}

/**
 * In this order, because entries that no longer wait are already in the outbox. Streams of removed partitions are
 * empty, too.
 */
async function whatIsLeft({ sql, redis }: World['own']): Promise<string | undefined> {
  const entries = await countWaiting(redis, await redis.keys(streamKey('*')))
  if (entries > 0) return `${entries} entries wait in Redis`
  const [row] = await sql<[{ waiting: number; erasures: number }]>`
    select (select count(*)::int from outbox where shipped_at is null) as waiting,
      (select count(*)::int from erasures where deleted_at is null) as erasures`
  if (row.waiting > 0) return `${row.waiting} rows of the outbox are not shipped`
  return row.erasures > 0 ? `${row.erasures} erasures are not finished` : undefined
}
