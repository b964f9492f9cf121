/**
 * Creates the roles of the embedded Postgres. The superuser may do anything; only `start` knows its password. All other
 * work is done with a role that owns the database but has no other rights: it cannot read files, run programs or change
 * settings.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Sql, connectPostgres } from '../../stores/postgres.ts'
import { type Address, DATABASE, type EngineSetup, ensureSecret, USER } from '../engine-setup.ts'
import type { Explain } from '../start-steps.ts'

const ROLE = 'sluice_app'
const RETRY_MS = 30

const superuserFile = (dataDir: string): string => join(dataDir, 'postgres-superuser')

/** Returns the superuser's password. Creates it if there is none. */
export const ensureSuperuserPassword = (dataDir: string): Promise<string> => ensureSecret(superuserFile(dataDir))

const urlOf = (user: string, password: string, port: number, database: string): string =>
  `postgres://${user}:${password}@127.0.0.1:${port}/${database}`

/** Returns the address for all of Sluice's own work. */
export const postgresUrl = ({ port, password }: Address): string => urlOf(ROLE, password, port, DATABASE)

/** Returns the superuser's address of the same database. Needs read access to DATA_DIR. */
export async function superuserUrl(dataDir: string, databaseUrl: string): Promise<string> {
  const url = new URL(databaseUrl)
  url.username = USER
  url.password = await readFile(superuserFile(dataDir), 'utf8')
  return url.href
}

/**
 * Resolves when Postgres answers, and has the role and its database. Until then, gives `explain` what Postgres says
 * about why it does not accept connections, such as that it recovers.
 */
export async function preparePostgres(setup: EngineSetup, explain: Explain): Promise<void> {
  const password = await ensureSuperuserPassword(setup.dataDir)
  await untilAnswers(setup, password, explain)
  await connected(urlOf(USER, password, setup.port, 'postgres'), (sql) => ensureDatabase(sql, setup))
}

async function untilAnswers(setup: EngineSetup, password: string, explain: Explain): Promise<void> {
  let deadline = Date.now() + setup.timeoutMs
  const isRecovering = async (sql: Sql) => {
    const [row] = await sql<[{ recovers: boolean }]>`select pg_is_in_recovery() as recovers`
    return row.recovers
  }
  for (;;) {
    try {
      if (!(await connected(urlOf(USER, password, setup.port, 'postgres'), isRecovering))) return
      // After a restore it answers reads before its log is applied.
      explain('the database system is applying its log')
      deadline = Date.now() + setup.timeoutMs
    } catch (error) {
      if (isWrongPassword(error))
        throw new Error(
          `The Postgres of ${setup.dataDir} rejects the password in ${superuserFile(setup.dataDir)}. Restore the original file.`,
          { cause: error },
        )
      if (Date.now() > deadline)
        throw new Error(`Postgres does not answer after ${setup.timeoutMs} ms`, { cause: error })
      if (isStarting(error)) {
        explain(error.message)
        // The recovery would begin anew after a restart, so it gets the time that it needs.
        deadline = Date.now() + setup.timeoutMs
      }
    }
    await sleep(RETRY_MS, undefined, { signal: setup.signal })
  }
}

const isWrongPassword = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '28P01'

/** 57P03: it is starting, or recovers after a crash, and says which. */
const isStarting = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === '57P03'

async function ensureDatabase(sql: Sql, { port, password }: Address): Promise<void> {
  const [role] = await sql`select 1 from pg_roles where rolname = ${ROLE}`
  const rights = `login nosuperuser password ${literal(password)}`
  if (!role) await sql.unsafe(`create role ${ROLE} ${rights}`)
  else if (!(await mayEnter(port, password))) await sql.unsafe(`alter role ${ROLE} ${rights}`)
  const [database] = await sql`select 1 from pg_database where datname = ${DATABASE}`
  if (!database) await sql.unsafe(`create database ${DATABASE} owner ${ROLE}`)
}

async function mayEnter(port: number, password: string): Promise<boolean> {
  try {
    await connected(urlOf(ROLE, password, port, 'postgres'), (sql) => sql`select 1`)
    return true
  } catch (error) {
    if (isWrongPassword(error)) return false
    throw error
  }
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

async function connected<T>(url: string, work: (sql: Sql) => PromiseLike<T>): Promise<T> {
  const sql = connectPostgres(url, { max: 1, name: 'sluice-start' })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}
