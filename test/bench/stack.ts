/** Runs the product like operators do: `start` on an empty directory, with every part in its own process. */
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type StoreUrls, enginesFile } from '../../src/stores/data-dir.ts'
import { superuserUrl } from '../../src/embedded/postgres/prepare-postgres.ts'
import { environmentWithout } from '../../src/embedded/processes/engine-command.ts'
import { freePort, runEngine, runtimeCommand, untilReady } from '../../src/embedded/processes/run-engine.ts'
import { WAL_USER } from '../../src/embedded/postgres/preallocate-wal.ts'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { type Redis, connectRedis } from '../../src/stores/redis.ts'
import { streamKey } from '../../src/stream/keys.ts'
import { readPositions } from '../../src/stream/partitions/positions.ts'
import { makeFolder } from './make-folder.ts'

/** In the order in which an event passes them; `start` is the supervisor. */
export const PARTS = ['front-door', 'workers', 'redis', 'postgres', 'clickhouse', 'start'] as const
export type Part = (typeof PARTS)[number]

export interface Stack {
  url: string
  /** Address of the workers' metrics. */
  workersUrl: string
  stores: StoreUrls
  pids: Record<Part, number>
  /** Keys of all streams. */
  streams: string[]
  /** The bench's own connections to the stores. */
  own: { sql: Sql; redis: Redis; clickhouse: ClickHouseClient }
  /** Folder of this run, and that of the product's data in it. */
  folder: string
  dataDir: string
  /** The command line of the build that runs. */
  cli: URL
  close(): Promise<void>
}

const READY_MS = 300_000
const OWN_CLI = new URL('../../src/cli.ts', import.meta.url)

/**
 * @param place parent of the empty directory, which `close` removes
 * @param sources folder of the build to run; default: this one
 */
export async function openStack(place?: string, sources?: string): Promise<Stack> {
  const cli = sources === undefined ? OWN_CLI : pathToFileURL(join(sources, 'src/cli.ts'))
  const folder = await makeFolder(place)
  const dataDir = join(folder, 'data')
  await mkdir(dataDir, { mode: 0o711 })
  const [port, workersPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const settings = {
    DATA_DIR: dataDir,
    PORT: port,
    HOST: '127.0.0.1',
    WORKERS_PORT: workersPort,
    // The bench receives mails.
    ALLOW_LOOPBACK_TARGETS: 'true',
  }
  const engine = {
    name: 'start',
    dataDir: folder,
    folder,
    command: [
      'env',
      ...FORGOTTEN.flatMap((name) => ['-u', name]),
      ...assignments(settings),
      ...runtimeCommand(cli, ['start']),
    ],
    environment: environmentWithout(),
    signal: 'TERM' as const,
  }
  const running = await runEngine(engine)
  await untilReady(engine, running, untilOk(`${url}/readyz`))
  const engines = JSON.parse(await readFile(enginesFile(dataDir), 'utf8')) as StoreUrls
  // The superuser, because the bench requests checkpoints and uses WAL segments.
  const stores = { ...engines, databaseUrl: await superuserUrl(dataDir, engines.databaseUrl) }
  const own = {
    sql: connectPostgres(stores.databaseUrl, { max: 2, name: 'bench', settings: { statement_timeout: '0' } }),
    redis: connectRedis(stores.redisUrl, 'command'),
    clickhouse: connectClickHouse(stores.clickhouseUrl),
  }
  await untilWalIsUsed(own.sql)
  return {
    url,
    workersUrl: `http://127.0.0.1:${workersPort}`,
    stores,
    pids: await readPids(folder, dataDir),
    streams: [...(await readPositions(own.sql)).keys()].map(streamKey),
    own,
    folder,
    dataDir,
    cli,
    async close() {
      own.redis.disconnect()
      await Promise.all([own.sql.end({ timeout: 1 }), own.clickhouse.close()])
      await running.stop(60_000)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Waits while a new installation preallocates WAL segments, which takes some seconds. */
export async function untilWalIsUsed(sql: Sql): Promise<void> {
  const isUsing = () => sql`select from pg_stat_activity where application_name = ${WAL_USER}`
  while ((await isUsing()).length > 0) await sleep(100)
}

/**
 * Variables of the caller's shell that must not reach the product, such as other databases. All others are passed on,
 * to try settings.
 */
const FORGOTTEN = ['DATABASE_URL', 'REDIS_URL', 'CLICKHOUSE_URL', 'NODE_ENV', 'VITEST']

const assignments = (settings: Record<string, string | number>) =>
  Object.entries(settings).map(([name, value]) => `${name}=${value}`)

async function readPids(folder: string, dataDir: string): Promise<Record<Part, number>> {
  const pids = PARTS.map(async (part) => {
    const file = join(part === 'start' ? folder : dataDir, `${part}.pid`)
    return [part, Number(await readFile(file, 'utf8'))] as const
  })
  return Object.fromEntries(await Promise.all(pids)) as Record<Part, number>
}

export async function untilOk(url: string): Promise<void> {
  const deadline = Date.now() + READY_MS
  while (Date.now() < deadline) {
    const response = await fetch(url, { keepalive: false }).catch(() => undefined)
    if (response?.ok) return
    await sleep(50)
  }
  throw new Error(`${url} is not well after ${READY_MS} ms`)
}
