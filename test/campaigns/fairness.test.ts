/** A large broadcast does not hold up others: campaigns and businesses take turns. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sleep } from '../../src/async/sleep.ts'
import { MAX_OF_A_BUSINESS } from '../../src/campaigns/engine/claim/find-due.ts'
import { ENGINE_SETTINGS } from '../../src/campaigns/engine/open-engine.ts'
import { runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'
import { NOW, type Pipeline, openPipeline } from '../support/facts.ts'
import { fillDue } from '../support/fill-due.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { type Engine, type Shop, openEngine, openShop } from './engine-lab.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let pipeline: Pipeline
let engine: Engine
let shop: Shop
let template: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  await stack.sql`delete from due_steps`
  engine = openEngine(stack)
  shop = await open()
  template = await shop.template()
  return () => engine.close()
})

const open = async () => openShop(stack, engine, pipeline, (await createBusiness(stack.sql)).businessId)
const send = { id: 'a', type: 'send', channel: 'email' }
const publish = (of: Shop, name: string, trigger: string) => of.publish([{ ...send, template: name }], { trigger })

/** Publishes a campaign with that number of enrolments, due for an hour. */
async function fill(many: number, of = shop, name = template): Promise<string> {
  const campaignId = await publish(of, name, 'joined')
  await fillDue(stack.sql, {
    businessId: of.businessId,
    campaignId,
    step: 'a',
    many,
    dueAt: engine.clock.now - 3_600_000,
  })
  return campaignId
}

/** Sends a call and returns the instant of its answer. */
async function welcome(of: Shop): Promise<number> {
  const now = Date.now()
  const identity = { email: `new-${crypto.randomUUID()}@x.io` }
  const contactId = ((await pipeline.apply({ ...of.live('seen', identity, now), receivedAt: now }))[0] as TrackAnswer)
    .contactId
  await of.optIn(contactId)
  await pipeline.apply({ ...of.live('signup', identity, now), receivedAt: now })
  return Date.now()
}

const campaignsOf = (sends: readonly { campaignId: string }[]) =>
  Object.fromEntries([...Map.groupBy(sends, ({ campaignId }) => campaignId)].map(([id, all]) => [id, all.length]))

describe('a claim', () => {
  it('has some of each campaign, and half of each business', async () => {
    const broadcast = await fill(300)
    const other = await open()
    const theirs = await fill(300, other, await other.template())
    const small = await publish(shop, template, 'signup')
    await fillDue(stack.sql, { businessId: shop.businessId, campaignId: small, step: 'a', many: 5, dueAt: NOW })
    expect(campaignsOf(await engine.claim(20))).toEqual({ [theirs]: 10, [broadcast]: 5, [small]: 5 })
    await engine.claim(20)
    // The small campaign has no more enrolments, so its share goes to the others.
    expect(campaignsOf(await engine.claim(20))).toEqual({ [theirs]: 10, [broadcast]: 10 })
  })

  it('is in the order of the instants, and leaves room for other businesses', async () => {
    await fill(100)
    await stack.sql`
      update due_steps d set due_at = d.due_at + o.place
      from (select enrolment_id, row_number() over (order by enrolment_id) as place from due_steps) o
      where d.enrolment_id = o.enrolment_id`
    const oldest = await stack.sql<{ id: string }[]>`
      select enrolment_id as id from due_steps order by due_at limit ${MAX_OF_A_BUSINESS}`
    const claimed = await engine.claim(64)
    expect(new Set(claimed.map(({ enrolmentId }) => enrolmentId))).toEqual(new Set(oldest.map(({ id }) => id)))
  })

  it('is not held up by a business that is inactive', async () => {
    await fill(300)
    await stack.sql`update businesses set active = false where id = ${shop.businessId}`
    const other = await open()
    const theirs = await fill(10, other, await other.template())
    expect(campaignsOf(await engine.claim(20))).toEqual({ [theirs]: 10 })
    expect(await engine.claim(20)).toEqual([])
  })

  it('finds what fell due since the campaigns were listed, when those have nothing more', async () => {
    await fill(24)
    expect(await engine.claim(12)).toHaveLength(12)
    expect(await engine.claim(12)).toHaveLength(12)
    const small = await publish(shop, template, 'signup')
    await fillDue(stack.sql, { businessId: shop.businessId, campaignId: small, step: 'a', many: 1, dueAt: NOW })
    expect(campaignsOf(await engine.claim(12))).toEqual({ [small]: 1 })
  })
})

it('welcome mails of the same and of another business go out beside a broadcast, within a second', async () => {
  engine.deps.now = Date.now
  engine.clock.now = Date.now()
  const broadcast = await fill(10_000)
  const other = await open()
  const otherTemplate = await other.template()
  const welcomes = [await publish(shop, template, 'signup'), await publish(other, otherTemplate, 'signup')]
  const stop = new AbortController()
  const running = runCampaigns(engine.deps, stop.signal)
  try {
    for (let count = 0; count === 0;)
      ({ count } = await stack.sql`select from messages where campaign_id = ${broadcast} limit 1`)
    const answered = [await welcome(shop), await welcome(other)]
    const sent = () => stack.sql<{ claimedAt: number }[]>`
      select claimed_at as "claimedAt" from messages
      where campaign_id = any (${`{${welcomes.join(',')}}`}::uuid[]) order by business_id = ${other.businessId}`
    const patience = performance.now() + PATIENCE_MS
    while ((await sent()).length < 2 && performance.now() < patience)
      await new Promise((resolve) => setTimeout(resolve, 20))
    const [{ left }] = await stack.sql<[{ left: number }]>`
      select count(*)::int as left from due_steps where campaign_id = ${broadcast}`
    expect(left).toBeGreaterThan(0)
    const claimed = await sent()
    expect(claimed).toHaveLength(2)
    for (const [index, { claimedAt }] of claimed.entries())
      expect(claimedAt - answered[index]!).toBeLessThan(atLoad(1000))
  } finally {
    stop.abort()
    await running
  }
})

describe('the plans', () => {
  let sql: Sql
  beforeEach(async () => {
    for (const table of ['due_steps', 'businesses', 'campaigns', 'contacts'])
      await stack.sql`alter table ${stack.sql(table)} set (autovacuum_enabled = false)`
    // One connection: plans belong to a session.
    sql = connectPostgres(stack.databaseUrl, { max: 1, settings: ENGINE_SETTINGS })
    return () => sql.end({ timeout: 1 })
  })

  const readUse = async () => {
    await sql`select pg_stat_force_next_flush()`
    const rows = await stack.sql<{ name: string; scans: number; rows: number }[]>`
      select indexrelname as name, idx_scan as scans, idx_tup_read as rows from pg_stat_user_indexes
      where relname in ('due_steps', 'businesses')
      union all
      select 'all of ' || relname, seq_scan, seq_tup_read from pg_stat_user_tables where relname in ('due_steps', 'businesses')`
    return new Map(rows.map((row) => [row.name, row]))
  }

  /**
   * Measures the rows that a look reads, by index. Other connections report their reads with a delay, so it returns the
   * smallest of a few looks.
   */
  const readLook = async (look: () => Promise<unknown>): Promise<{ name: string; rows: number }[]> => {
    const looks: { name: string; rows: number }[][] = []
    for (let n = 0; n < 3; n++) {
      // Longer than the worker remembers which campaigns have something due.
      await sleep(500)
      const before = await readUse()
      await look()
      const after = await readUse()
      looks.push(
        [...after.values()].flatMap(({ name, scans, rows }) => {
          const { scans: earlier = 0, rows: read = 0 } = before.get(name) ?? {}
          return scans > earlier ? [{ name, rows: rows - read }] : []
        }),
      )
    }
    const total = (look: { rows: number }[]): number => look.reduce((sum, { rows }) => sum + rows, 0)
    return looks.toSorted((one, other) => total(one) - total(other))[0] ?? []
  }

  it('made on a table of two rows read what they need of a full one, and no table from end to end', async () => {
    const { due } = engine.deps
    const look = (most: number) => due.find(sql, { now: engine.clock.now, most, inFlight: () => 0 })
    await fill(2)
    for (let n = 0; n < 3; n++) expect(await look(1)).toHaveLength(1)
    await fill(20_000)
    const small = await publish(shop, template, 'signup')
    await fillDue(stack.sql, { businessId: shop.businessId, campaignId: small, step: 'a', many: 3, dueAt: NOW })
    const used = await readLook(async () => expect(campaignsOf(await look(40))).toMatchObject({ [small]: 3 }))
    expect(used.map(({ name }) => name).toSorted()).toEqual([
      'businesses_pkey',
      'due_steps_due',
      'due_steps_of_campaign',
    ])
    for (const { name, rows } of used) expect([name, rows < 200]).toEqual([name, true])
  })
  it('made without statistics read the businesses that have something due, and no others', async () => {
    await Promise.all(Array.from({ length: 200 }, () => createBusiness(stack.sql)))
    for (let n = 0; n < 12; n++) await fill(4)
    const { due } = engine.deps
    const look = () => due.find(sql, { now: engine.clock.now, most: 8, inFlight: () => 0 })
    for (let n = 0; n < 3; n++) expect(await look()).toHaveLength(8)
    const used = await readLook(look)
    const read = used.filter(({ name }) => name.includes('businesses'))
    expect(read.map(({ name }) => name)).toEqual(['businesses_pkey'])
    // Nine for the oldest due rows, and one for each campaign.
    expect(read[0]!.rows).toBeLessThanOrEqual(9 + 12)
  })
})
