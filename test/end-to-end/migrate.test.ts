/** Migrations that are interrupted, or that run at the same time as others. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { migrate, pendingMigrations } from '../../src/migrate/migrate.ts'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { openStack, type Stack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const stack = useOpened(() => openStack({}, { ownClickHouse: true }))

async function tables(): Promise<string[]> {
  const query = 'select name from system.tables where database = currentDatabase() order by name'
  const rows = await (await stack.clickhouse.query({ query, format: 'JSONEachRow' })).json<{ name: string }>()
  return rows.map(({ name }) => name)
}

/** Returns the same ClickHouse, which fails after this number of commands. */
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

describe('databases that this version cannot continue are refused, and left as they are', () => {
  let sql: Stack['sql']
  let clickhouse: ClickHouseClient
  let close: Stack['close']
  beforeEach(async () => {
    ;({ sql, clickhouse, close } = await openStack({}, { ownClickHouse: true }))
  })
  afterEach(() => close())

  const applied = () => sql`select * from migrations order by name`
  async function expectRefusal(message: string | RegExp): Promise<void> {
    const before = await applied()
    await expect(migrate(sql, clickhouse, log)).rejects.toThrow(message)
    expect(await applied()).toEqual(before)
  }

  test('those of a development version, which had other files', async () => {
    await sql`
      update migrations set name = 'postgres/0001_businesses.sql', checksum = 'another'
      where name = 'postgres/0001_installation.sql'`
    await clickhouse.command({ query: `drop database ${clickhouse.databases.internal} sync` })
    await expectRefusal(
      /made by a development version: they have postgres\/0001_businesses\.sql, where this version has postgres\/0001_installation\.sql\. .*nothing was changed\. To keep their data, run the version that made them\. To start over, use another DATA_DIR, or empty databases/,
    )
    await expect(clickhouse.query({ query: 'select 1' })).rejects.toThrow(/does not exist/)
    await clickhouse.makeInternal()
  })

  test.each(['postgres/0002_another.sql', 'clickhouse/0001_another.sql'])(
    'those with %s between these files',
    async (name) => {
      await sql`insert into migrations (name, checksum) values (${name}, 'another')`
      await expectRefusal(`made by a development version: they have ${name}, where this version has`)
    },
  )

  test('those without one of these files, and with a later one', async () => {
    await sql`delete from migrations where name = 'postgres/0004_contacts.sql'`
    await expectRefusal('they have postgres/0005_contact_search.sql, where this version has postgres/0004_contacts.sql')
  })

  test.each(['postgres/9999_next.sql', 'clickhouse/9999_next.sql'])(
    'those of a newer version, with %s',
    async (name) => {
      await sql`insert into migrations (name, checksum) values (${name}, 'another')`
      await expectRefusal(`newer than this version: it has ${name}. Install the newer version.`)
    },
  )

  test('those with an edited file', async () => {
    await sql`update migrations set checksum = 'another' where name = 'postgres/0006_visitors.sql'`
    await expectRefusal(
      /^sql\/postgres\/0006_visitors\.sql was edited after it was applied: restore the original file\. .*development version\. .*To start over/,
    )
  })
})

test('files that are missing at the end are applied', async () => {
  const { sql, clickhouse, close } = await openStack({}, { ownClickHouse: true })
  await sql`alter table sender_use drop column call_second, drop column call_taken, drop column calls_in_second`
  await sql`delete from migrations where name in ('postgres/0024_call_turns.sql', 'clickhouse/0006_topics.sql')`
  expect(await migrate(sql, clickhouse, log)).toBe(2)
  expect(await sql`select call_second from sender_use`).toEqual([])
  await close()
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
