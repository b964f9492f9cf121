/**
 * Migrates both databases to the schema of this version: numbered SQL files, each applied once, and SQL functions,
 * which are replaced when their text changes. Postgres records the files that have been applied.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { TransactionSql } from 'postgres'
import type { Logger } from '../log.ts'
import { type ClickHouseClient, type Databases, quoteName } from '../stores/clickhouse.ts'
import { recordInstallation, requireEmptyClickHouse, requireSameInstallation } from '../stores/installation.ts'
import type { Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { allPartitions } from '../stream/partitions/partition-of.ts'
import { VERSION } from '../version.ts'

/** The databases cannot be migrated: an edited file, an incompatible version, or a different number of partitions. */
class MigrationError extends Error {
  override name = 'MigrationError'
}

interface SqlFile {
  /** Path below sql/, such as `postgres/0001_installation.sql`. */
  name: string
  text: string
  checksum: string
}

interface Files {
  postgres: SqlFile[]
  functions: SqlFile[]
  clickhouse: SqlFile[]
}

const SQL_FOLDER = new URL('../../sql/', import.meta.url)
const DEFAULT_PARTITIONS = 2

/**
 * Applies the missing files in one Postgres transaction, so concurrent migrations are safe, and a failure changes
 * nothing in Postgres. ClickHouse has no transactions, so its files are written to be repeatable. `partitions`:
 * STREAM_PARTITIONS, if set. Returns the number of applied files. Throws MigrationError, InstallationError, or the
 * database's error.
 */
export async function migrate(
  sql: Sql,
  clickhouse: ClickHouseClient,
  log: Logger,
  partitions?: number,
): Promise<number> {
  const files = await readFiles()
  // A separate transaction: if a failure below rolled this back, a half-created ClickHouse would count as complete.
  await withMigrationLock(sql, async (tx) => {
    await tx`create table if not exists migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`
    const applied = await readApplied(tx)
    rejectIncompatible(files, applied)
    await clickhouse.makeInternal()
    if (applied.size === 0) await requireEmptyClickHouse(clickhouse)
    await requireSameInstallation({ sql: tx, clickhouse })
    if (await isEmpty(clickhouse)) await tx`delete from migrations where name like 'clickhouse/%'`
  })
  let count = 0
  await withMigrationLock(sql, async (tx) => {
    const applied = await readApplied(tx)
    rejectIncompatible(files, applied)
    const changed = (file: SqlFile) => applied.get(file.name) !== file.checksum
    for (const file of files.postgres.filter(changed)) {
      await tx.unsafe(file.text)
      await record(tx, file, log)
    }
    for (const file of files.functions.filter(changed)) {
      await dropFormer(tx, file)
      await tx.unsafe(file.text)
      await record(tx, file, log)
    }
    for (const file of files.clickhouse.filter(changed)) {
      for (const query of statementsOf(file, clickhouse)) await clickhouse.command({ query })
      await record(tx, file, log)
    }
    await ensurePartitions(tx, partitions)
    await tx`insert into migrations (name, checksum) values (${VERSION_NAME}, ${VERSION})
      on conflict (name) do update set checksum = excluded.checksum, applied_at = now()`
    count = Object.values(files).flat().filter(changed).length
  })
  // After the commit, because ClickHouse would be refused later if it had the id of a Postgres that was rolled back.
  await withMigrationLock(sql, (tx) => recordInstallation({ sql: tx, clickhouse }))
  return count
}

/** Drops every overload of a file's functions. An overload with other arguments would remain alongside the new one. */
async function dropFormer(tx: TransactionSql, { text }: SqlFile): Promise<void> {
  const names = Array.from(text.matchAll(/^create or replace function (\w+)/gm), ([, name = '']) => name)
  const former = await tx<{ signature: string }[]>`
    select oid::regprocedure::text as signature from pg_proc
    where pronamespace = current_schema()::regnamespace and proname in ${tx(names)}`
  for (const { signature } of former) await tx.unsafe(`drop function ${signature}`)
}

/** Runs `work` in a transaction that waits for all other migrations, without a time limit. */
async function withMigrationLock(sql: Sql, work: (tx: TransactionSql) => Promise<void>): Promise<void> {
  await inTransaction(sql, async (tx) => {
    await tx`select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`
    await tx`select pg_advisory_xact_lock(hashtext('sluice migrate'))`
    await work(tx)
  })
}

/** Creates the tables that ClickHouse lacks, and replaces its views. */
export async function repeatClickHouse(clickhouse: ClickHouseClient): Promise<void> {
  await clickhouse.makeInternal()
  for (const file of await readFolder('clickhouse/'))
    for (const query of statementsOf(file, clickhouse)) await clickhouse.command({ query })
}

/**
 * Returns the tables and views that the files create in ClickHouse, each only once, because a later file can replace a
 * view.
 */
export async function listClickHouse(): Promise<{ database: keyof Databases; name: string }[]> {
  const matches = (await readFolder('clickhouse/')).flatMap(({ text }) => [...text.matchAll(CREATE_STATEMENT)])
  const names = new Set(matches.map(([, isPublic = '', name = '']) => isPublic + name))
  return [...names].map((name) =>
    name.startsWith(PUBLIC) ? { database: 'public', name: name.slice(PUBLIC.length) } : { database: 'internal', name },
  )
}

const PUBLIC = '{public}.'
const CREATE_STATEMENT =
  /^create (?:or replace )?(?:materialized )?(?:table|view) (?:if not exists )?(\{public\}\.)?(\w+)/gm

/** Name under which the version of the last migration is recorded among the files. */
const VERSION_NAME = 'version'

/** Returns the version of the databases if it is newer than this process, which continues until it is replaced. */
export async function readNewerVersion(sql: Sql): Promise<string | undefined> {
  return newerVersion(await readApplied(sql))
}

function newerVersion(applied: Map<string, string>): string | undefined {
  const version = applied.get(VERSION_NAME)
  return version !== undefined && version.localeCompare(VERSION, 'en', { numeric: true }) > 0 ? version : undefined
}

/**
 * Returns the names of files that have not been applied in their current form; empty when the databases have this
 * version or a newer one.
 */
export async function pendingMigrations(sql: Sql): Promise<string[]> {
  const wanted = await expectedChecksums()
  const applied = await readApplied(sql)
  if (newerVersion(applied) !== undefined) return []
  return [...wanted].filter(([name, checksum]) => applied.get(name) !== checksum).map(([name]) => name)
}

let expected: Promise<Map<string, string>> | undefined

/** Checksums by file name. Read only once, because a process is stopped before an upgrade changes its files. */
function expectedChecksums(): Promise<Map<string, string>> {
  expected ??= readChecksums().catch((error: unknown) => {
    expected = undefined
    throw error
  })
  return expected
}

async function readChecksums(): Promise<Map<string, string>> {
  const { postgres, functions, clickhouse } = await readFiles()
  return new Map([...postgres, ...functions, ...clickhouse].map(({ name, checksum }) => [name, checksum]))
}

/**
 * Returns the number of partitions of each kind. Throws MigrationError when it is not `expected` (STREAM_PARTITIONS).
 */
export async function readPartitions(sql: Sql | TransactionSql, expected?: number): Promise<number> {
  const [row] = await sql<{ partitions: number }[]>`select partitions from partitioning`
  if (!row) throw new MigrationError('The number of partitions is not recorded. Run `migrate` first.')
  if (expected !== undefined && expected !== row.partitions) {
    throw new MigrationError(
      `STREAM_PARTITIONS is ${expected}, but there are ${row.partitions} partitions of each kind. Unset it, start Sluice, then run \`admin partitions set ${expected}\`.`,
    )
  }
  return row.partitions
}

async function readFiles(): Promise<Files> {
  return {
    postgres: await readFolder('postgres/'),
    functions: await readFolder('postgres/functions/'),
    clickhouse: await readFolder('clickhouse/'),
  }
}

async function readFolder(folder: string): Promise<SqlFile[]> {
  const names = (await readdir(new URL(folder, SQL_FOLDER))).filter((name) => name.endsWith('.sql')).toSorted()
  return await Promise.all(names.map((name) => readSql(folder + name)))
}

async function readSql(name: string): Promise<SqlFile> {
  const text = await readFile(new URL(name, SQL_FOLDER), 'utf8')
  return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
}

/**
 * Returns whether ClickHouse has no tables. A new or lost ClickHouse gets its tables again, even if Postgres has
 * recorded the files.
 */
async function isEmpty(clickhouse: ClickHouseClient): Promise<boolean> {
  const query = 'select count() as tables from system.tables where database = currentDatabase()'
  const rows = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ tables: string }>()
  return Number(rows[0]?.tables) === 0
}

async function readApplied(sql: Sql | TransactionSql): Promise<Map<string, string>> {
  const rows = await sql<{ name: string; checksum: string }[]>`select name, checksum from migrations`
  return new Map(rows.map((row) => [row.name, row.checksum]))
}

/** Throws MigrationError, before any change, unless these files are a continuation of the applied ones. */
function rejectIncompatible({ postgres, clickhouse }: Files, applied: Map<string, string>): void {
  const newer = newerVersion(applied)
  if (newer !== undefined)
    throw new MigrationError(
      `The database is at version ${newer}, which is newer than this one (${VERSION}). Install ${newer}.`,
    )
  const numbered = [...applied.keys()].filter((name) => NUMBERED_FILE.test(name)).toSorted()
  for (const [folder, files] of [['postgres/', postgres] as const, ['clickhouse/', clickhouse] as const])
    for (const [index, name] of numbered.filter((one) => one.startsWith(folder)).entries())
      rejectUnlike(name, applied.get(name), files[index])
}

const NUMBERED_FILE = /^(postgres|clickhouse)\/\d{4}_\w+\.sql$/

const ADVICE =
  'They cannot be migrated, and nothing was changed. To keep their data, run the version that made them. To start over, ' +
  'use another DATA_DIR, or empty databases in Postgres, Redis and ClickHouse.'

/** `file`: the file of this version in the position of the applied file `name`. */
function rejectUnlike(name: string, checksum: string | undefined, file: SqlFile | undefined): void {
  if (file === undefined)
    throw new MigrationError(`The database is newer than this version: it has ${name}. Install the newer version.`)
  if (file.name !== name)
    throw new MigrationError(
      `The databases were made by a development version: they have ${name}, where this version has ${file.name}. ${ADVICE}`,
    )
  if (file.checksum !== checksum)
    throw new MigrationError(
      `sql/${name} was edited after it was applied: restore the original file. If you did not edit it, the databases were made by a ` +
        `development version. ${ADVICE}`,
    )
}

async function record(tx: TransactionSql, file: SqlFile, log: Logger): Promise<void> {
  await tx`insert into migrations (name, checksum) values (${file.name}, ${file.checksum})
    on conflict (name) do update set checksum = excluded.checksum, applied_at = now()`
  log.info({ file: file.name }, 'migrated')
}

/**
 * Splits a file into statements, because ClickHouse accepts only one at a time. A semicolon at the end of a line ends a
 * statement. Names refer to the internal database, or to the public one after `{public}.`
 */
function statementsOf({ text }: SqlFile, { databases }: ClickHouseClient): string[] {
  const withoutComments = text.replaceAll(/^\s*--.*$/gm, '').replaceAll('{public}', () => quoteName(databases.public))
  return withoutComments
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter(Boolean)
}

async function ensurePartitions(tx: TransactionSql, wanted: number | undefined): Promise<void> {
  await tx`insert into partitioning (partitions) values (${wanted ?? DEFAULT_PARTITIONS}) on conflict do nothing`
  const count = await readPartitions(tx, wanted)
  await tx`insert into positions (partition)
    select unnest(${`{${allPartitions(count).join(',')}}`}::text[])
    on conflict do nothing`
}
