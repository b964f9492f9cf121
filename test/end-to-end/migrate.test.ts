/** Migrations that are cut short, or meet another's. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { migrate, pendingMigrations } from '../../src/migrate/migrate.ts'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { openStack, type Stack } from '../support/stack.ts'

const log = createLogger({ level: 'silent', name: 'test' })
let stack: Stack
beforeAll(async () => {
  stack = await openStack({}, { ownClickHouse: true })
})
afterAll(() => stack.close())

async function tables(): Promise<string[]> {
  const query = 'select name from system.tables where database = currentDatabase() order by name'
  const rows = await (await stack.clickhouse.query({ query, format: 'JSONEachRow' })).json<{ name: string }>()
  return rows.map(({ name }) => name)
}

/** The same ClickHouse, gone after this number of commands. */
function goneAfter(commands: number): ClickHouseClient {
  let left = commands
  return new Proxy(stack.clickhouse, {
    get(client, name) {
      if (name === 'command' && left-- <= 0) throw new Error('gone')
      const member: unknown = Reflect.get(client, name)
      return typeof member === 'function' ? (member.bind(client) as unknown) : member
    },
  })
}

test('a lost ClickHouse is made anew, also when that is cut short', async () => {
  const all = await tables()
  expect(all).toContain('revenue_by_day')
  for (const name of all) await stack.clickhouse.command({ query: `drop table ${name} sync` })
  await expect(migrate(stack.sql, goneAfter(2), log)).rejects.toThrow('gone')
  expect((await tables()).length).toBeLessThan(all.length)
  expect(await pendingMigrations(stack.sql)).toContain('clickhouse/0001_tables.sql')
  const pending = await pendingMigrations(stack.sql)
  expect(await migrate(stack.sql, stack.clickhouse, log)).toBe(pending.length)
  expect(await migrate(stack.sql, stack.clickhouse, log)).toBe(0)
  expect(await tables()).toEqual(all)
  expect(await pendingMigrations(stack.sql)).toEqual([])
})

test('a database of a development version is refused, and left as it is', async () => {
  const former = await openStack({}, { ownClickHouse: true })
  const { sql, clickhouse } = former
  await sql`
    update migrations set name = 'postgres/0001_businesses_and_keys.sql', checksum = 'another'
    where name = 'postgres/0001_businesses.sql'`
  await clickhouse.command({ query: `drop database ${clickhouse.databases.internal} sync` })
  const before = await sql`select * from migrations order by name`
  await expect(migrate(sql, clickhouse, log)).rejects.toThrow(
    /made by a development version .* nothing was changed\. Start with a new DATA_DIR, or with empty databases/,
  )
  expect(await sql`select * from migrations order by name`).toEqual(before)
  await expect(clickhouse.query({ query: 'select 1' })).rejects.toThrow(/does not exist/)
  await clickhouse.makeInternal()
  await former.close()
})

test('every table of ClickHouse keeps what its parts replace', async () => {
  const query = `select name, engine_full like '%old_parts_lifetime = 480%' as keeps
    from system.tables where database = currentDatabase() and engine like '%MergeTree'`
  const rows = await (
    await stack.clickhouse.query({ query, format: 'JSONEachRow' })
  ).json<{ name: string; keeps: 0 | 1 }>()
  expect(rows.map(({ name }) => name)).toContain('web_events')
  expect(rows.filter(({ keeps }) => keeps !== 1)).toEqual([])
})

test('a migrator waits for another, however long that takes', async () => {
  const impatient = connectPostgres(stack.databaseUrl, { max: 1, settings: { statement_timeout: '300' } })
  const other = stack.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('sluice migrate'))`
    await sleep(1000)
  })
  await sleep(100)
  await migrate(impatient, stack.clickhouse, log)
  await other
  await impatient.end()
})

test('a function that takes other arguments replaces all of its former versions, and no other function', async () => {
  const forms = async () => {
    const rows = await stack.sql<{ form: string }[]>`
      select oid::regprocedure::text as form from pg_proc where proname = 'merge_tags' order by oid::regprocedure::text`
    return rows.map(({ form }) => form)
  }
  await stack.sql.unsafe(`
    create schema other;
    create function other.merge_tags(one text) returns text language sql as 'select one'`)
  const former = await forms()
  expect(former).toContain('other.merge_tags(text)')
  await stack.sql.unsafe(`
    create function merge_tags(one text) returns text language sql as 'select one';
    create function merge_tags() returns integer language sql as 'select 1'`)
  await stack.sql`
    update migrations set checksum = 'another' where name = 'postgres/functions/merge_contacts.sql'`
  await migrate(stack.sql, stack.clickhouse, log)
  expect(await forms()).toEqual(former)
  expect(await pendingMigrations(stack.sql)).toEqual([])
})

test('an edit of an applied file is refused', async () => {
  const name = 'postgres/0004_visitors.sql'
  const [row] = await stack.sql<[{ checksum: string }]>`select checksum from migrations where name = ${name}`
  await stack.sql`update migrations set checksum = 'another' where name = ${name}`
  await expect(migrate(stack.sql, stack.clickhouse, log)).rejects.toThrow(`sql/${name} was edited`)
  await stack.sql`update migrations set checksum = ${row.checksum} where name = ${name}`
})
