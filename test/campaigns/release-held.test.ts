/** Steps that a channel holds continue in sets: after a change of its limits, and after a pause. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { sleep } from '../../src/async/sleep.ts'
import type { MessageChannel } from '../../src/rules/messages/message-channel.ts'
import { releaseHeld } from '../../src/messages/channels/release-held.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { NOW } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { HOUR } from './engine-lab.ts'

let stack: Stack
/** One connection: plans belong to a session. */
let sql: Sql
let businessId: string
beforeAll(async () => {
  stack = await openStack()
  await stack.sql`alter table due_steps set (autovacuum_enabled = false)`
  sql = connectPostgres(stack.databaseUrl, { max: 1 })
})
afterAll(async () => {
  await sql.end({ timeout: 1 })
  await stack.close()
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
})
afterEach(() => stack.sql`delete from due_steps`)

const SIZES = { set: 10, mostLimited: 20 }

/** Inserts rows that are due one after the other, a millisecond apart. */
async function hold(many: number, type: string | null, channel: MessageChannel = 'email', from = NOW + HOUR) {
  const heldBy = type && JSON.stringify({ type, channel })
  await stack.sql`
    insert into due_steps (business_id, enrolment_id, contact_id, campaign_id, version, step, began_at, due_at, held_by)
    select ${businessId}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, ${type ?? 'w'}, n, ${from}::bigint + n, ${heldBy}::text::jsonb
    from generate_series(1, ${many}::integer) n`
}
const wake = (sizes = SIZES) => releaseHeld(sql, { businessId, channel: 'email', sender: 'default' }, NOW, sizes)
/** Returns the rows that are due within the second, in the order of their former instants. */
const woken = (step: string) => stack.sql<{ n: number; at: number }[]>`
  select began_at as n, due_at as at from due_steps
  where business_id = ${businessId} and step = ${step} and due_at <= ${NOW + 1000} order by due_at, began_at`

it('all that a pause holds goes on, set by set, in its order', async () => {
  await hold(95, 'channel_paused')
  await wake()
  const rows = await woken('channel_paused')
  expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 95 }, (_, n) => n + 1))
  expect(rows.at(0)?.at).toBe(NOW)
})

it.each([
  [19, 19],
  [20, 20],
  [21, 20],
  [45, 20],
])('the first ones that limits hold go on, in whole sets: of %d, these %d', async (many, first) => {
  await hold(many, 'per_second')
  await wake()
  expect((await woken('per_second')).map(({ n }) => n)).toEqual(Array.from({ length: first }, (_, n) => n + 1))
})

it('those of a pause do not wait for those of limits', async () => {
  await hold(40, 'daily_budget')
  await hold(40, 'channel_paused', 'email', NOW + 2 * HOUR)
  await wake()
  expect([(await woken('daily_budget')).length, (await woken('channel_paused')).length]).toEqual([20, 40])
})

it('what waits for something else, or for another channel, goes on waiting', async () => {
  await hold(3, null)
  await hold(3, 'cap')
  await hold(3, 'channel_paused', 'sms')
  await wake()
  expect(
    await stack.sql`select from due_steps where business_id = ${businessId} and due_at > ${NOW + 1000}`,
  ).toHaveLength(9)
})

it('what is due earlier by itself stays so, and a second call makes nothing later', async () => {
  await hold(1, 'per_second', 'email', NOW - 2)
  await hold(30, 'channel_paused')
  await wake()
  await wake()
  expect((await woken('per_second')).map(({ at }) => at)).toEqual([NOW - 1])
  const rows = await woken('channel_paused')
  expect([rows.length, rows.every(({ at }) => at <= NOW + 3)]).toEqual([30, true])
})

it('waits for what another transaction has locked', async () => {
  await hold(12, 'channel_paused')
  const locked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const holding = stack.sql.begin(async (tx) => {
    await tx`select from due_steps where business_id = ${businessId} and began_at in (2, 11) for update`
    locked.resolve()
    await released.promise
  })
  await locked.promise
  const waking = wake()
  await sleep(200)
  expect(await woken('channel_paused')).toHaveLength(10)
  released.resolve()
  await Promise.all([holding, waking])
  expect(await woken('channel_paused')).toHaveLength(12)
})

/** Counts the rows that a wake has read from the table and its indexes. */
async function countRead(): Promise<number> {
  const readUse = async () => {
    await sql`select pg_stat_force_next_flush()`
    const [row] = await stack.sql<[{ rows: number }]>`
      select ((select sum(idx_tup_read) from pg_stat_user_indexes where relname = 'due_steps')
        + (select seq_tup_read from pg_stat_user_tables where relname = 'due_steps'))::bigint as rows`
    return row.rows
  }
  const before = await readUse()
  await wake()
  return (await readUse()) - before
}

it('those that limits hold beyond the first ones are not read', async () => {
  await hold(20_000, 'per_second')
  await hold(30, 'channel_paused', 'email', NOW + 2 * HOUR)
  expect(await countRead()).toBeLessThan(1000)
  expect([(await woken('per_second')).length, (await woken('channel_paused')).length]).toEqual([20, 30])
})

it('its plans, made on a small table, read what they need of a full one', async () => {
  await hold(2, 'channel_paused')
  for (let n = 0; n < 6; n += 1) await wake()
  await hold(20_000, 'per_second', 'sms')
  await hold(20_000, null)
  await hold(30, 'channel_paused')
  expect(await countRead()).toBeLessThan(1000)
  expect(await woken('channel_paused')).toHaveLength(32)
})
