/**
 * A broadcast continues set by set: through pauses, alongside other work and other workers, and after a worker's death.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { SET_SIZE, readBroadcast } from '../../src/campaigns/broadcasts.ts'
import { type StatusChange, changeStatus } from '../../src/campaigns/change-status.ts'
import { endArchived } from '../../src/campaigns/engine/end-archived.ts'
import { enrolBroadcast } from '../../src/campaigns/engine/enrol-broadcast.ts'
import { runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Pipeline, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { insertSegment } from '../segments/segments-support.ts'
import { ACTOR, ANN, type Engine, type Shop, isWaiting, openEngine, openShop } from './engine-lab.ts'

const SETS = 4
/** The last set has one member. */
const MEMBERS = (SETS - 1) * SET_SIZE + 1
const WAIT = [{ id: 'w', type: 'wait', for: 'P1D' }]

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
let campaignId: string
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
beforeEach(async () => {
  // The engine serves all businesses.
  await stack.sql`update broadcasts set due_at = null`
  await stack.sql`delete from due_steps`
  // As in a process of its own.
  engine.clock.now = Date.now()
  shop = await openOther()
  campaignId = await publish(shop)
})

async function openOther(): Promise<Shop> {
  const { businessId } = await createBusiness(stack.sql)
  return openShop(stack, engine, pipeline, businessId)
}

/** Publishes a broadcast to `many` members, who have no other data. */
async function publish({ businessId, publish }: Shop, many = MEMBERS): Promise<string> {
  const { segmentId, no } = await insertSegment(stack.sql, businessId, { tag: 'all', operator: 'has' })
  await stack.sql`
    with made as (
      insert into contacts (business_id, id, created_at, keyed)
      select ${businessId}, gen_random_uuid(), n, true from generate_series(1, ${many}::integer) n returning id
    )
    insert into segment_members (business_id, contact_id, segment_no, since, cause)
    select ${businessId}, id, ${no}::bigint, 1, 'live' from made`
  return publish(WAIT, { trigger: { segment: segmentId, on: 'members' } })
}

const step = (sql: Sql = stack.sql) => enrolBroadcast({ ...engine.deps, sql })
const change = (to: StatusChange) =>
  changeStatus(stack.sql, { businessId: shop.businessId, actor: ACTOR }, campaignId, to)
const progress = () => readBroadcast(stack.sql, { businessId: shop.businessId, campaignId })
async function count(table: string, { businessId }: Shop = shop): Promise<number> {
  const [{ many }] = await stack.sql<[{ many: number }]>`
    select count(*)::int as many from ${stack.sql(table)} where business_id = ${businessId}`
  return many
}
async function expectComplete(): Promise<void> {
  expect(await progress()).toMatchObject({ members: MEMBERS, enrolled: MEMBERS, doneAt: expect.any(String) as string })
  const [{ contacts }] = await stack.sql<[{ contacts: number }]>`
    select count(distinct contact_id)::int as contacts from enrolments where business_id = ${shop.businessId}`
  expect([contacts, await count('enrolments'), await count('due_steps')]).toEqual([MEMBERS, MEMBERS, MEMBERS])
  expect(await count('broadcast_sets')).toBe(0)
}

it('enrols a full set at a time, then the rest, and then nobody', async () => {
  const enrolled: number[] = []
  while (await step()) enrolled.push(await count('enrolments'))
  expect(enrolled).toEqual([SET_SIZE, 2 * SET_SIZE, 3 * SET_SIZE, MEMBERS])
  await expectComplete()
})

it('a pause holds between sets, and a resume goes on', async () => {
  await step()
  await change('pause')
  expect(await step()).toBe(false)
  expect(await progress()).toMatchObject({ enrolled: SET_SIZE, doneAt: null })
  await change('resume')
  while (await step()) continue
  await expectComplete()
  await change('pause')
  await change('resume')
  expect(await step()).toBe(false)
})

it('an archive ends it between sets, and all that are enrolled', async () => {
  await step()
  await change('archive')
  expect(await step()).toBe(false)
  while (await endArchived(engine.deps)) continue
  expect(await progress()).toMatchObject({ members: MEMBERS, enrolled: SET_SIZE, doneAt: null })
  expect(new Set(await shop.enrolments())).toEqual(new Set(['stopped']))
  expect([await count('enrolments'), await count('due_steps'), await count('broadcast_sets')]).toEqual([SET_SIZE, 0, 0])
})

it('a pause waits for the set under way, and none begins after it', async () => {
  const [first] = await stack.sql<{ id: string }[]>`
    select contact_ids[1] as id from broadcast_sets where campaign_id = ${campaignId} order by position limit 1`
  const busy = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const save = stack.sql.begin(async (tx) => {
    await tx`select from contacts where business_id = ${shop.businessId} and id = ${first!.id} for update`
    locked.resolve()
    await busy.promise
  })
  await locked.promise
  const set = step()
  await vi.waitUntil(() => isWaiting(stack.sql, 'for no key update'), { timeout: PATIENCE_MS })
  const paused = change('pause')
  await vi.waitUntil(() => isWaiting(stack.sql, 'update campaigns'), { timeout: PATIENCE_MS })
  // Another worker skips the campaign.
  expect(await step()).toBe(false)
  busy.resolve()
  await Promise.all([save, set, paused])
  expect(await count('enrolments')).toBe(SET_SIZE)
  expect(await step()).toBe(false)
})

it('two workers at once enrol each member once', async () => {
  const work = async () => {
    for (;;) if (!(await step()) && (await progress())?.doneAt !== null) return
  }
  await Promise.all([work(), work(), work()])
  await expectComplete()
})

it('broadcasts take turns', async () => {
  const other = await openOther()
  await publish(other)
  const enrolled: number[][] = []
  for (const _ of [1, 2, 3, 4]) {
    engine.clock.now += 1
    await step()
    enrolled.push([await count('enrolments'), await count('enrolments', other)].map((many) => many / SET_SIZE))
  }
  expect(enrolled).toEqual([
    [1, 0],
    [1, 1],
    [2, 1],
    [2, 2],
  ])
})

it('what is due otherwise comes between sets', async () => {
  const other = await openOther()
  const [{ contactId }] = (await pipeline.apply(other.live('seen', ANN, engine.clock.now))) as [TrackAnswer]
  await other.optIn(contactId)
  await other.publish([{ id: 'a', type: 'send', channel: 'email', template: await other.template() }])
  await pipeline.apply(other.live('signup', ANN, engine.clock.now))
  const stopping = new AbortController()
  const running = runCampaigns({ ...engine.deps, now: Date.now }, stopping.signal)
  const isDone = async () => (await progress())?.doneAt !== null && (await other.states())[0] === 'a sent'
  await vi.waitUntil(isDone, { timeout: PATIENCE_MS })
  stopping.abort()
  await running
  const [message] = (await other.messages()) as { claimed_at: number }[]
  expect(message!.claimed_at).toBeLessThan(Date.parse((await progress())!.doneAt!))
  expect(await count('enrolments')).toBe(MEMBERS)
})

it('a transaction that fails at its end leaves nothing of the set, and others go on', async () => {
  await step()
  const other = await openOther()
  await publish(other, 1)
  // Postgres answers such a COMMIT with ROLLBACK.
  const unsafe: typeof stack.sql.unsafe = (text, ...rest) =>
    stack.sql.unsafe(text === 'commit' ? 'rollback' : text, ...rest)
  const failing = new Proxy(stack.sql, {
    get: (sql, name) => (name === 'unsafe' ? unsafe : (Reflect.get(sql, name) as unknown)),
  })
  await stack.sql`update broadcasts set due_at = due_at - 1 where campaign_id = ${campaignId}`
  expect(await step(failing)).toBe(false)
  expect(await progress()).toMatchObject({ enrolled: SET_SIZE, doneAt: null })
  expect([await count('enrolments'), await count('due_steps')]).toEqual([SET_SIZE, SET_SIZE])
  expect(await step()).toBe(true)
  expect([await count('enrolments', other), await step()]).toEqual([1, false])
  engine.clock.now += 10_000
  while (await step()) continue
  await expectComplete()
})

/** True when another session than the one that queries is in a transaction. */
async function isInTransaction(): Promise<boolean> {
  const found = await stack.sql`
    select from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`
  return found.length > 0
}

function startWorker(): ChildProcess {
  const script = fileURLToPath(new URL('killed-sender.ts', import.meta.url))
  const child = spawn(process.execPath, [script, stack.databaseUrl, '60000'], { stdio: ['pipe', 'ignore', 'inherit'] })
  children.push(child)
  return child
}

it('kill -9 in the middle of any set: the next worker enrols the others, each once', async () => {
  const soon = { timeout: PATIENCE_MS, interval: 5 }
  for (let set = 1; set <= SETS; set += 1) {
    const killed = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const save = stack.sql.begin(async (tx) => {
      await tx`
        select from contacts c
        where c.business_id = ${shop.businessId} and c.id = (
          select s.contact_ids[cardinality(s.contact_ids)] from broadcast_sets s
          where s.campaign_id = ${campaignId} and s.position = ${set - 1}
        ) for update`
      locked.resolve()
      await killed.promise
    })
    await locked.promise
    const worker = startWorker()
    await vi.waitUntil(() => isWaiting(stack.sql, 'for no key update'), soon)
    worker.kill('SIGKILL')
    await once(worker, 'exit')
    killed.resolve()
    await save
    // The session of the killed worker keeps its locks for a moment.
    await vi.waitUntil(async () => !(await isInTransaction()), soon)
    expect(await count('enrolments')).toBe((set - 1) * SET_SIZE)
  }
  const last = startWorker()
  await vi.waitUntil(async () => (await progress())?.doneAt !== null, soon)
  last.kill('SIGTERM')
  expect((await once(last, 'exit'))[0]).toBe(0)
  await expectComplete()
})
