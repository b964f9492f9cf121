/**
 * Runs Redis, Postgres and ClickHouse on this machine, for `start` and for tests: on loopback ports, with one random
 * password, and with all data below DATA_DIR. Restarts an engine that dies, on the same port. All engines stop when
 * this process ends, for any reason.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ConfigError } from '../config.ts'
import { enginesFile, type StoreUrls } from '../stores/data-dir.ts'
import type { Logger } from '../log.ts'
import { ANALYST } from './clickhouse/analyst-role.ts'
import { analystUrl, clickHouseUrl, startClickHouse } from './clickhouse/clickhouse.ts'
import {
  type Address,
  type EngineSetup,
  ensureSecret,
  passwordFile,
  type RunningEngine,
  writeWhole,
} from './engine-setup.ts'
import { lockDataDir } from './processes/lock-data-dir.ts'
import { keepPorts } from './processes/keep-ports.ts'
import { type SupervisedProcess, keepRunning } from './processes/keep-running.ts'
import { startPostgres } from './postgres/postgres.ts'
import { postgresUrl } from './postgres/prepare-postgres.ts'
import { redisUrl, startRedis } from './redis/redis.ts'
import { quietStep, type Step } from './start-steps.ts'

interface Engine {
  /** Name of the engine, its log and its folder. */
  name: string
  urlOf(address: Address): string
  start(setup: EngineSetup, log: Logger): Promise<RunningEngine>
}

const ENGINES: Record<keyof StoreUrls, Engine> = {
  databaseUrl: { name: 'postgres', urlOf: postgresUrl, start: startPostgres },
  redisUrl: { name: 'redis', urlOf: redisUrl, start: startRedis },
  clickhouseUrl: { name: 'clickhouse', urlOf: clickHouseUrl, start: startClickHouse },
}

export interface Engines extends Partial<StoreUrls> {
  /** Resolves when the engine of the option `later` has started; rejects when it cannot start. */
  complete: Promise<void>
  /** The address of ClickHouse for analysts. */
  clickhouseAnalystUrl?: string
  stop(): Promise<void>
}

export interface EngineOptions {
  log: Logger
  /** The engines to start. Default: all. */
  only?: (keyof StoreUrls)[]
  /** An engine for which `startEngines` does not wait, because its address is known before it answers. */
  later?: keyof StoreUrls
  /** Says what the start is doing. Default: says nothing. */
  step?: Step
  small?: boolean
  inMemory?: boolean
  /** The address of the front door that belongs to these engines. The other commands find it with those of the engines. */
  frontDoorUrl?: string
  /** Called after this process has locked DATA_DIR, before any engine is started. If it throws, the start fails. */
  ready?: () => Promise<void>
  /** Aborts the start, and stops the engines that have started. Has no effect after the start. */
  signal?: AbortSignal
}

/**
 * Starts the engines. Throws when DATA_DIR cannot be created or is in use, when an engine cannot start, or when
 * `signal` aborts.
 */
export async function startEngines(dataDir: string, options: EngineOptions): Promise<Engines> {
  const folder = resolve(dataDir)
  // Other users may enter the folder, because Postgres may run as another user, but cannot list it.
  await mkdir(folder, { recursive: true, mode: 0o711 }).catch((error: unknown) => explainFolder(folder, error))
  const release = await lockDataDir(folder)
  try {
    await options.ready?.()
  } catch (error) {
    await release()
    throw error
  }
  const password = await ensureSecret(passwordFile(folder))
  const analystPassword = await ensureSecret(passwordFile(folder, ANALYST))
  const wanted = options.only ?? (Object.keys(ENGINES) as (keyof StoreUrls)[])
  const ending = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, ending.signal]) : ending.signal
  const { log, step = quietStep, small = false, inMemory = false } = options
  const ports = await keepPorts(
    folder,
    wanted.map((key) => ENGINES[key].name),
    log,
  )
  const launch = (key: keyof StoreUrls): Launched => {
    const { name, urlOf, start } = ENGINES[key]
    const setup = { dataDir: folder, port: ports[name] ?? 0, password, small, inMemory, timeoutMs: 120_000, step }
    const startOnce = (signal: AbortSignal) => start({ ...setup, signal }, log)
    const kept = keepRunning({ name, folder: join(folder, name), log, start: startOnce, signal })
    kept.catch(() => undefined) // It is awaited later.
    return { key, url: urlOf(setup), kept }
  }
  const launched = wanted.map(launch)
  const stop = async () => {
    ending.abort()
    const settled = await Promise.allSettled(launched.map(({ kept }) => kept))
    await Promise.all(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value.stop()] : [])))
    await rm(enginesFile(folder), { force: true })
    await release()
  }
  const isLater = ({ key }: Launched) => key === options.later
  const complete = Promise.all(launched.filter(isLater).map(({ kept }) => kept)).then(() => undefined)
  complete.catch(() => undefined)
  try {
    await Promise.all(launched.filter((one) => !isLater(one)).map(({ kept }) => kept))
    const urls: Partial<StoreUrls> = Object.fromEntries(launched.map(({ key, url }) => [key, url]))
    const { clickhouseUrl } = urls
    const { frontDoorUrl } = options
    const addresses = {
      ...urls,
      ...(clickhouseUrl && { clickhouseAnalystUrl: analystUrl(clickhouseUrl, analystPassword) }),
    }
    const shared = { ...addresses, ...(frontDoorUrl !== undefined && { frontDoorUrl }) }
    await writeWhole(enginesFile(folder), `${JSON.stringify(shared, null, 2)}\n`)
    return { ...addresses, complete, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Launched {
  key: keyof StoreUrls
  url: string
  kept: Promise<SupervisedProcess>
}

function explainFolder(folder: string, error: unknown): never {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EEXIST' || code === 'ENOTDIR') throw new ConfigError(`DATA_DIR must be a directory, not "${folder}"`)
  throw new Error(`DATA_DIR cannot be created: ${(error as Error).message}`, { cause: error })
}
