/** Runs one set of engines for a whole test run, on private ports and below a temporary directory. */
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import type { StoreUrls } from '../../src/stores/data-dir.ts'
import { type Engines, startEngines } from '../../src/embedded/engines.ts'
import { superuserUrl } from '../../src/embedded/postgres/prepare-postgres.ts'
import { createLogger, type Logger } from '../../src/log.ts'
import { migrate } from '../../src/migrate/migrate.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { keepWebEvents, requireKept } from './keep-web-events.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    stores: StoreUrls & { clickhouseAnalystUrl: string }
  }
}

const PREFIX = 'sluice-test-'

/**
 * A file system in memory, on Linux. A sync costs nothing there, and the engines sync as usual. Tests cannot cut the
 * power, and data written by a killed process remains as on a disk.
 */
const MEMORY = '/dev/shm'
const NEEDED_BYTES = 4 * 1024 ** 3

/** How the databases of stacks are named. */
export const STACK_PREFIX = 'sluice_t_'
/** A failed test may have left its stack open. */
const CLOSING_MS = 10_000

/** The migrated Postgres database of which each test file gets a copy. */
export const TEMPLATE = 'template_sluice'

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeLeftovers()
  const log = createLogger({ level: 'warn', name: 'test' })
  const place = await choosePlace()
  const folder = await mkdtemp(join(place, `${PREFIX}${process.pid}-`))
  await chmod(folder, 0o711)
  const engines = await startEngines(folder, { log, small: true, inMemory: place === MEMORY })
  const stop = async () => {
    await engines.stop()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const urls = requireAll(engines)
    await makeTemplate(folder, urls, log)
    project.provide('stores', urls)
    return async () => {
      const clickhouse = connectClickHouse(urls.clickhouseUrl)
      try {
        await untilStacksClosed(urls)
        await requireKept(clickhouse)
      } finally {
        await clickhouse.close()
        await stop()
      }
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function requireAll({ databaseUrl, redisUrl, clickhouseUrl, clickhouseAnalystUrl }: Engines) {
  if (!databaseUrl || !redisUrl || !clickhouseUrl || !clickhouseAnalystUrl) throw new Error('An engine is missing')
  return { databaseUrl, redisUrl, clickhouseUrl, clickhouseAnalystUrl }
}

async function makeTemplate(folder: string, { databaseUrl, clickhouseUrl }: StoreUrls, log: Logger): Promise<void> {
  const url = new URL(databaseUrl)
  url.pathname = TEMPLATE
  await allowTests(folder, databaseUrl, url.href)
  const sql = connectPostgres(url.href, { max: 1 })
  const clickhouse = connectClickHouse(clickhouseUrl)
  await migrate(sql, clickhouse, log)
  await keepWebEvents(clickhouse)
  await Promise.all([sql.end(), clickhouse.close()])
}

/** Tests create databases and count statements, for which the usual role has no rights. */
async function allowTests(folder: string, databaseUrl: string, templateUrl: string): Promise<void> {
  const role = new URL(databaseUrl).username
  const admin = connectPostgres(await superuserUrl(folder, databaseUrl), { max: 1 })
  await admin`create database ${admin(TEMPLATE)} owner ${admin(role)}`
  await admin`alter role ${admin(role)} createdb`
  await admin.end()
  const template = connectPostgres(await superuserUrl(folder, templateUrl), { max: 1 })
  await template`create extension pg_stat_statements`
  await template`grant execute on function pg_stat_statements_reset to ${template(role)}`
  await template.end()
}

/** What the files of a worker share is closed when the worker ends, which the run does not wait for. */
async function untilStacksClosed({ databaseUrl }: StoreUrls): Promise<void> {
  const sql = connectPostgres(databaseUrl, { max: 1 })
  const deadline = Date.now() + CLOSING_MS
  const open = () => sql`select from pg_database where starts_with(datname, ${STACK_PREFIX})`
  try {
    while ((await open()).length > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50))
  } finally {
    await sql.end()
  }
}

async function choosePlace(): Promise<string> {
  const memory = await statfs(MEMORY).catch(() => undefined)
  const isLarge = memory !== undefined && memory.bavail * memory.bsize >= NEEDED_BYTES
  return isLarge && freemem() >= NEEDED_BYTES ? MEMORY : tmpdir()
}

/** Removes the files of killed runs. Their engines have ended with them. */
async function removeLeftovers(): Promise<void> {
  for (const place of [tmpdir(), MEMORY]) {
    const names = (await readdir(place).catch(() => [])).filter((name) => name.startsWith(PREFIX))
    for (const name of names.filter((name) => !isAlive(Number(name.slice(PREFIX.length).split('-')[0]))))
      await rm(join(place, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
