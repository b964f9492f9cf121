/** The ceilings do the same work as the pipeline. With less work the comparison would be unfair. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, inject, test } from 'vitest'
import { freePort, runtimeCommand } from '../../src/embedded/processes/run-engine.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { readFacts } from './ceilings/facts.ts'
import type { CeilingPlan, CeilingResult } from './ceilings/plan.ts'
import type { Traffic } from './generator/traffic.ts'
import { makeClickHouse } from '../support/stack.ts'
import { untilOk } from './stack.ts'
import { startTask } from './task.ts'

const traffic: Traffic = { kind: 'typical', prefix: 'ceiling-' }
const plan = (stores: CeilingPlan['stores'], events: number): CeilingPlan => ({
  stores,
  traffic,
  groups: { entry: 7, microBatch: 50, insert: 100 },
  warmUp: 100,
  events,
})

/** That of ClickHouse leaves a table, which must not be among those that other tests list. */
async function storesFor(name: string): Promise<CeilingPlan['stores']> {
  const stores = inject('stores')
  if (name !== 'clickhouse') return stores
  const url = new URL(stores.clickhouseUrl)
  url.pathname = await makeClickHouse()
  return { ...stores, clickhouseUrl: url.href }
}

async function run(name: string): Promise<CeilingResult> {
  const program = new URL(`ceilings/${name}.ts`, import.meta.url)
  const task = await startTask<CeilingResult>(program, plan(await storesFor(name), 400))
  const result = await task.go()
  await task.end()
  return result
}

test.each(['redis', 'clickhouse'])('%s does its work and reports what it cost', async (name) => {
  const result = await run(name)
  expect(result.events).toBe(400)
  expect(result.cpuUs).toBeGreaterThan(0)
})

test('the one statement writes every fact, exactly', async () => {
  await run('postgres')
  const url = new URL(inject('stores').databaseUrl)
  url.pathname = 'ceiling'
  const sql = connectPostgres(url.href, { max: 1 })
  const [found] = await sql`
    select (select sum(count)::int from event_statistics) as events, (select sum(order_count)::int from contacts) as orders,
      (select count(*)::int from contacts) as contacts, (select count(*)::int from identities) as identities,
      (select sum(amount)::float8 from revenue) as revenue, (select count(*)::int from idempotency_keys) as keys,
      (select count(*)::int from outbox, string_to_table(events, E'\n')) as lines,
      (select position::int from positions) as saves`
  await sql.end()
  const facts = readFacts(traffic, 0, 500).flat()
  const orders = facts.filter(({ meaning }) => meaning.order)
  const people = new Set(facts.map(({ identity }) => identity.email)).size
  expect(found).toEqual({
    events: 500,
    orders: orders.length,
    contacts: people,
    identities: people,
    revenue: orders.reduce((sum, { meaning }) => sum + Number(meaning.counted), 0),
    keys: 250,
    lines: 500,
    saves: 10,
  })
})

test('the route that does nothing else checks the body', async () => {
  const port = await freePort()
  const [command = '', ...args] = runtimeCommand(new URL('ceilings/noop-server.ts', import.meta.url), [String(port)])
  const server = spawn(command, args, { stdio: 'inherit' })
  try {
    await untilOk(`http://127.0.0.1:${port}/healthz`)
    const post = (path: string, body: object) =>
      fetch(`http://127.0.0.1:${port}/api/sdk/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
    const event = { event: 'signup', identity: { email: 'ada@example.com' } }
    const statuses = [
      await post('track', event),
      await post('track', { event: 'signup' }),
      await post('track/batch', { events: [event] }),
      await post('track/batch', { events: [{ ...event, tags: 'none' }] }),
    ].map(({ status }) => status)
    expect(statuses).toEqual([200, 422, 200, 422])
  } finally {
    server.kill()
    await once(server, 'exit')
  }
})
