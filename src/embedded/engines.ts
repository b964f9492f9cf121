/**
 * Redis, Postgres and ClickHouse on this machine, for `start` and the tests: loopback ports, one random password, everything
 * below DATA_DIR. An engine that dies is started again where it was; all of them stop with this process, however it ends.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ConfigError, enginesFile, type StoreUrls } from '../config.ts'
import type { Logger } from '../log.ts'
import { startClickHouse } from './clickhouse.ts'
import { type EngineSetup, passwordFile, type RunningEngine, writeWhole } from './engine-setup.ts'
import { holdDataDir } from './hold-data-dir.ts'
import { keepRunning } from './keep-running.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import { freePort } from './run-engine.ts'

const STARTERS = {
  databaseUrl: startPostgres,
  redisUrl: startRedis,
  clickhouseUrl: startClickHouse,
} satisfies Record<keyof StoreUrls, (setup: EngineSetup, log: Logger) => Promise<RunningEngine>>

/** Of the engine, its log and its folder. */
const NAMES = { databaseUrl: 'postgres', redisUrl: 'redis', clickhouseUrl: 'clickhouse' } as const

export interface Engines extends Partial<StoreUrls> {
  stop(): Promise<void>
}

export interface EngineOptions {
  log: Logger
  /** Those to start; all by default. */
  only?: (keyof StoreUrls)[]
  small?: boolean
  /** Asked once DATA_DIR is this process's, before anything is started; what it throws ends the start. */
  ready?: () => Promise<void>
  /** Aborted: nothing is started any more, and what was is stopped. Later it has no effect. */
  signal?: AbortSignal
}

/** Throws when DATA_DIR cannot be had or is already started, an engine cannot start, or `signal` is aborted. */
export async function startEngines(dataDir: string, options: EngineOptions): Promise<Engines> {
  const folder = resolve(dataDir)
  // Open to pass through, since Postgres may run as a user of its own; what is inside is closed.
  await mkdir(folder, { recursive: true, mode: 0o711 }).catch((error: unknown) => explainFolder(folder, error))
  const release = await holdDataDir(folder)
  try {
    await options.ready?.()
  } catch (error) {
    await release()
    throw error
  }
  const password = await ensurePassword(folder)
  const wanted = options.only ?? (Object.keys(STARTERS) as (keyof StoreUrls)[])
  const starts = wanted.map(async (key) => {
    const setup = {
      dataDir: folder,
      port: await freePort(),
      password,
      small: options.small ?? false,
      timeoutMs: 120_000,
    }
    const { log } = options
    const start = (signal: AbortSignal) => STARTERS[key]({ ...setup, signal }, log)
    const name = NAMES[key]
    return { key, kept: await keepRunning({ name, folder: join(folder, name), log, start, signal: options.signal }) }
  })
  const settled = await Promise.allSettled(starts)
  const started = settled.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  const stop = async () => {
    await Promise.all(started.map(({ kept }) => kept.stop()))
    await rm(enginesFile(folder), { force: true })
    await release()
  }
  const failure = settled.find((start) => start.status === 'rejected')
  if (failure) {
    await stop()
    throw failure.reason as Error
  }
  const urls: Partial<StoreUrls> = Object.fromEntries(started.map(({ key, kept }) => [key, kept.url]))
  await writeWhole(enginesFile(folder), `${JSON.stringify(urls, null, 2)}\n`)
  return { ...urls, stop }
}

function explainFolder(folder: string, error: unknown): never {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EEXIST' || code === 'ENOTDIR') throw new ConfigError(`DATA_DIR must be a directory, not "${folder}"`)
  throw new Error(`DATA_DIR cannot be made: ${(error as Error).message}`, { cause: error })
}

async function ensurePassword(dataDir: string): Promise<string> {
  const kept = await readFile(passwordFile(dataDir), 'utf8').catch(() => '')
  if (kept) return kept
  const password = randomBytes(24).toString('hex')
  await writeWhole(passwordFile(dataDir), password)
  return password
}
