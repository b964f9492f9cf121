// @long
/**
 * Processes that are killed between an update's entry in the stream and its save, while others work: each update is
 * applied once.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createContactCaches } from '../../src/contacts/load/contact-cache.ts'
import { createLogger } from '../../src/log.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { startIngestLoops } from '../../src/stream/consume/start-ingest-loops.ts'
import { applyMicroBatch } from '../../workers/pipeline.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Pipeline, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { type Engine, openEngine, openShop } from './engine-lab.ts'

const KILLS = 3
const CONTACTS = 120

let stack: Stack
let pipeline: Pipeline
let engine: Engine
const children: ChildProcess[] = []
beforeAll(async () => {
  stack = await openStack()
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack)
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await engine.close()
  await stack.close()
})

function startUpdater(): ChildProcess {
  const script = fileURLToPath(new URL('killed-updater.ts', import.meta.url))
  const child = spawn(process.execPath, [script, stack.databaseUrl, stack.redisUrl], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  children.push(child)
  return child
}

function startIngest() {
  const log = createLogger({ level: 'silent', name: 'test' })
  const redis = connectRedis(stack.redisUrl, 'command', log)
  const deps = { sql: stack.sql, log, configs: new Map(), contactsOf: createContactCaches() }
  const loops = startIngestLoops(
    {
      sql: stack.sql,
      redis,
      connectReader: () => connectRedis(stack.redisUrl, 'read', log),
      apply: (...batch) => applyMicroBatch(deps, ...batch),
      log,
    },
    { owner: `test-${crypto.randomUUID()}`, kinds: ['live'], leaseMs: 10_000 },
  )
  return {
    async stop() {
      await loops.stop()
      redis.disconnect()
    },
  }
}

it('kill -9 of updaters leaves each update applied once', async () => {
  const { sql } = stack
  const { businessId } = await createBusiness(sql)
  const shop = openShop(stack, engine, pipeline, businessId)
  await shop.publish([
    { id: 'u', type: 'update', addTags: ['vip'] },
    { id: 'w', type: 'wait', for: 'P1D' },
  ])
  await sql`create table applied_updates (enrolment_id uuid not null)`
  await sql.unsafe(`
    create function note_update() returns trigger language plpgsql as $$
    begin
      insert into applied_updates values (new.enrolment_id);
      return new;
    end $$;
    create trigger note_update after update on due_steps for each row
      when (new.step = 'u' and new.settled and not old.settled) execute function note_update()`)
  const people = Array.from({ length: CONTACTS }, (_, n) => ({ email: `p${n}@x.io` }))
  await pipeline.apply(...people.map((identity) => shop.live('signup', identity, engine.clock.now)))
  const soon = { timeout: PATIENCE_MS, interval: 5 }
  const claimed = async () => {
    const [{ many }] = await sql<[{ many: number }]>`
      select count(*)::int as many from due_steps where business_id = ${businessId} and attempts > 0`
    return many
  }

  // No worker applies the entries yet: updates are either pushed, or claimed and not yet pushed.
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = await claimed()
    const updater = startUpdater()
    await vi.waitUntil(async () => (await claimed()) > before, soon)
    updater.kill('SIGKILL')
    await once(updater, 'exit')
    // As after the lifetime of an entry: every update that is not applied is claimed again, and gets another entry.
    await sql`update due_steps set due_at = 0 where business_id = ${businessId}`
  }
  const ingest = startIngest()
  startUpdater()
  startUpdater()
  const waiting = async () => (await shop.due()).filter(({ step }) => step === 'u').length
  for (let left = await waiting(); left > 0; left = await waiting()) {
    await sql`update due_steps set due_at = 0 where business_id = ${businessId} and step = 'u' and not settled`
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  const [{ many, persons }] = await sql<[{ many: number; persons: number }]>`
    select count(*)::int as many, count(distinct enrolment_id)::int as persons from applied_updates`
  expect([many, persons]).toEqual([CONTACTS, CONTACTS])
  const tagged = await sql`select from contacts where business_id = ${businessId} and tags = '{vip}'`
  expect(tagged).toHaveLength(CONTACTS)
  await ingest.stop()
})
