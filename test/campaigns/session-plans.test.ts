/**
 * The engine plans each statement once per session. Statements that were planned on tables of two rows are planned
 * again once the tables have grown.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ENGINE_SETTINGS } from '../../src/campaigns/engine/open-engine.ts'
import { refreshStatistics } from '../../src/campaigns/engine/refresh-statistics.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { NOW, openPipeline } from '../support/facts.ts'
import { fillDue } from '../support/fill-due.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { DAY, type Engine, openEngine, openShop } from './engine-lab.ts'

const MANY = 5000
const SENT = 40
/** Rows read from all indexes and tables, per message. A single statement that scans a whole table exceeds this. */
const MOST_READ = 100

let stack: Stack
let sql: Sql
let engine: Engine
beforeAll(async () => {
  stack = await openStack()
  const tables = await stack.sql<{ name: string }[]>`select relname as name from pg_stat_user_tables`
  for (const { name } of tables) await stack.sql`alter table ${stack.sql(name)} set (autovacuum_enabled = false)`
  // Plans belong to a session. A claim reads the key outside its transaction.
  sql = connectPostgres(stack.databaseUrl, { max: 1, settings: ENGINE_SETTINGS })
  await loadMessageKey(sql)
  engine = openEngine({ sql })
})
afterAll(async () => {
  await engine.close()
  await sql.end({ timeout: 1 })
  await stack.close()
})

async function countRead(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`
  const [row] = await sql<[{ rows: number }]>`
    select ((select sum(idx_tup_read) from pg_stat_user_indexes) + (select sum(seq_tup_read) from pg_stat_user_tables))::bigint as rows`
  return row.rows
}

it('a claim, its messages and their outcomes', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const shop = openShop(stack, engine, await openPipeline(stack.sql), businessId)
  const steps = [{ id: 'a', type: 'send', channel: 'email', template: await shop.template() }]
  const caps = [{ channel: 'email', atMost: 5, days: 7 }]
  const campaignId = await shop.publish(steps, { caps, goal: 'paid' })
  const due = { businessId, campaignId, step: 'a', dueAt: NOW }
  await fillDue(stack.sql, { ...due, many: 2 })
  await engine.drain()
  expect(await shop.states()).toEqual(['a sent', 'a sent'])
  await fillDue(stack.sql, { ...due, many: MANY, dueAt: NOW + DAY })
  await stack.sql`
    insert into messages (business_id, id, campaign_id, enrolment_id, contact_id, step, channel, state, claimed_at, states, template_id)
    select business_id, gen_random_uuid(), campaign_id, enrolment_id, contact_id, 'z', 'email', 'sent', ${NOW}::bigint, '[]', campaign_id
    from due_steps where business_id = ${businessId}`
  await stack.sql`
    insert into event_statistics (business_id, contact_id, event, count, first_at, last_at)
    select business_id, contact_id, 'paid', 1, 1, 1 from due_steps where business_id = ${businessId}`
  await fillDue(stack.sql, { ...due, many: SENT })
  expect(await refreshStatistics(sql)).toEqual([
    'contacts',
    'due_steps',
    'enrolments',
    'event_statistics',
    'identities',
    'messages',
    'subscriptions',
  ])
  expect(await refreshStatistics(sql)).toEqual([])
  await stack.sql`select pg_stat_force_next_flush()`
  const before = await countRead()
  await engine.drain()
  expect((await countRead()) - before).toBeLessThan(SENT * MOST_READ)
  expect((await shop.states()).filter((one) => one === 'a sent')).toHaveLength(2 + SENT)
})
