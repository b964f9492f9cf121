/** Erased data is removed from the files as well: once a day, by one process. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { CLEANED_TABLES, type CleaningDeps, cleanFiles } from '../../src/erasure/clean-files.ts'
import { type Stack, openStack } from '../support/stack.ts'
import { type OwnRedis, startOwnRedis } from '../workers/own-redis.ts'

const WORD = 'grace.hopper@navy.example'
const AT_ONCE = { settledMs: 0, restMs: 60_000 }
const { signal } = new AbortController()
let stack: Stack
let own: OwnRedis
let deps: CleaningDeps
beforeAll(async () => {
  stack = await openStack({}, { ownClickHouse: true })
  own = await startOwnRedis()
  const { sql, databaseUrl } = stack
  deps = { sql, databaseUrl, redisUrl: own.url, log: createLogger({ level: 'silent', name: 'test' }) }
})
afterAll(async () => {
  await own?.close()
  await stack?.close()
})
beforeEach(async () => {
  await stack.sql`update file_cleaning set cleaned_until = '-infinity', started_at = '-infinity'`
  await stack.sql`delete from erasures`
})

const erase = (minutesAgo: number) => stack.sql`
  insert into erasures (business_id, contact_id, erased_as, scrubbed_at, hidden_at, deleted_at)
  select gen_random_uuid(), id, id, at, at, at
  from (select gen_random_uuid() as id, now() - ${minutesAgo} * interval '1 minute' as at) made`

test('no run begins when no person was erased', async () => {
  expect(await cleanFiles(deps, signal)).toBe(false)
})

test('an erasure is cleaned once it ended ten minutes ago, and no second run follows for it', async () => {
  await erase(9)
  expect(await cleanFiles(deps, signal)).toBe(false)
  await erase(11)
  expect(await cleanFiles(deps, signal)).toBe(true)
  expect(await cleanFiles(deps, signal)).toBe(false)
  await stack.sql`update file_cleaning set cleaned_until = cleaned_until - interval '24 hours', started_at = '-infinity'`
  await stack.sql`delete from erasures where deleted_at > now() - interval '1 minute' * 1440`
  expect(await cleanFiles(deps, signal)).toBe(false)
})

test('the next run begins 23 hours after the last one', async () => {
  await erase(11)
  const ran = (hours: number) => stack.sql`
    update file_cleaning set started_at = '-infinity', cleaned_until = now() - ${hours} * interval '1 hour' - interval '10 minutes'`
  await ran(22.99)
  expect(await cleanFiles(deps, signal)).toBe(false)
  await ran(23.01)
  expect(await cleanFiles(deps, signal)).toBe(true)
})

test('one of many processes cleans; when it dies, another does so an hour later', async () => {
  await erase(11)
  const runs = await Promise.all(Array.from({ length: 6 }, () => cleanFiles(deps, signal)))
  expect(runs.filter(Boolean)).toHaveLength(1)
  const died = (minutes: number) => stack.sql`
    update file_cleaning set cleaned_until = '-infinity', started_at = now() - ${minutes} * interval '1 minute'`
  await died(59)
  expect(await cleanFiles(deps, signal)).toBe(false)
  await died(61)
  expect(await cleanFiles(deps, signal)).toBe(true)
})

test('a run that fails is tried again', async () => {
  await erase(11)
  await own.kill()
  await expect(cleanFiles({ ...deps, databaseUrl: 'postgres://127.0.0.1:1/none' }, signal)).rejects.toThrow(
    'ECONNREFUSED',
  )
  await own.start()
  await stack.sql`update file_cleaning set started_at = '-infinity'`
  expect(await cleanFiles(deps, signal)).toBe(true)
})

test('afterwards neither statistics nor dead rows of Postgres hold the person, nor the log of Redis', async () => {
  const { sql } = stack
  await sql`
    insert into identities (business_id, kind, value, contact_id, proven)
    select gen_random_uuid(), 'email', ${WORD}, gen_random_uuid(), true from generate_series(1, 200)`
  await sql`analyze identities`
  const readStatistics = async () =>
    await sql<{ held: string }[]>`
      select tablename || '.' || attname as held from pg_stats
      where most_common_vals::text like ${`%${WORD}%`} or histogram_bounds::text like ${`%${WORD}%`}`
  expect(await readStatistics()).not.toEqual([])
  // For an empty table, Postgres would keep the previous statistics.
  await sql`update identities set value = 'other' where ctid = '(0,1)'`
  await sql`delete from identities where value = ${WORD}`
  const redis = connectRedis(own.url, 'command')
  const id = await redis.xadd('stream', '*', 'event', WORD)
  await redis.xdel('stream', id!)
  redis.disconnect()
  const log = () => execFileSync('grep', ['-rlc', WORD, own.folder], { encoding: 'utf8' })
  expect(log()).not.toBe('')
  await erase(0.1)
  expect(await cleanFiles(deps, signal, AT_ONCE)).toBe(true)
  expect(await readStatistics()).toEqual([])
  expect(() => log()).toThrow('Command failed')
  const [table] = await sql<[{ pages: number }]>`
    select (pg_relation_size('identities') / current_setting('block_size')::int)::int as pages`
  expect(table.pages).toBeLessThanOrEqual(3)
})

test('every table that an erasure deletes from is cleaned', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const sources = ['sql/postgres/functions/erase_contact.sql', 'src/outbox/scrub-outbox.ts']
  const changed = sources.flatMap((path) =>
    [...read(path).matchAll(/\b(?:delete from|update) (\w+)/g)].map(([, name]) => name),
  )
  // These tables contain only ids and instants, and are kept.
  const kept = new Set(['erasures', 'erased_visits'])
  expect([...new Set(changed)].filter((name) => !kept.has(name!) && !CLEANED_TABLES.includes(name!))).toEqual([])
})
