/**
 * Anything that is answered before a claim always takes effect: an opt-out, a goal, an erasure, a suppression, a pause
 * and an archive, each raced against the claims of two workers. A race is one contact: the call that stops it, and the
 * claims that may take its message.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { changeStatus } from '../../src/campaigns/change-status.ts'
import { ENGINE_SETTINGS } from '../../src/campaigns/engine/open-engine.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { suppress } from '../../src/messages/suppressions/suppress.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { NOW, type Pipeline, eventFact, openPipeline, track } from '../support/facts.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { fillDue } from '../support/fill-due.ts'
import { runs } from '../support/runs.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { insertCampaign } from './campaign-lab.ts'
import { ACTOR, type Engine, holdClaim, isWaiting, openEngine } from './engine-lab.ts'

/** 10,000 in long runs, and a hundredth of them in `npm test`. */
const RACES = runs(100) ** 2
/** Contacts of one round: the number that workers take of one business. */
const CONTACTS = 48
/** Number of contacts that one call stops. */
const TOGETHER = 4
/** Number of contacts in one claim. */
const CLAIMED = 8
const LATEST_MS = 12

let stack: Stack
let engines: Engine[]
const connections: Sql[] = []
/** Each pipeline applies one set at a time. */
let pipelines: Pipeline[]
beforeAll(async () => {
  stack = await openStack()
  const connect = (settings = {}) =>
    connections[connections.push(connectPostgres(stack.databaseUrl, { settings })) - 1]!
  // Statements are planned as in a worker. A plan without statistics may take so long that every stop comes first.
  engines = [openEngine({ sql: connect(ENGINE_SETTINGS) }), openEngine({ sql: connect(ENGINE_SETTINGS) })]
  const sql = connect()
  pipelines = await Promise.all(Array.from({ length: 3 }, () => openPipeline(sql)))
})
afterAll(async () => {
  for (const engine of engines) await engine.close()
  for (const sql of connections) await sql.end({ timeout: 1 })
  await stack.close()
})

/** The contacts that are stopped together. */
interface Stopped {
  businessId: string
  campaignId: string
  contactIds: string[]
  pipeline: Pipeline
}

const emailOf = (contactId: string): string => `${contactId}@x.io`
const changeTo =
  (to: 'archive' | 'pause') =>
  ({ businessId, campaignId }: Stopped) =>
    changeStatus(stack.sql, { businessId, actor: ACTOR }, campaignId, to)

const STOPS: Record<string, (stopped: Stopped) => Promise<unknown>> = {
  'an opt-out': ({ businessId, contactIds, pipeline }) =>
    pipeline.apply(
      ...contactIds.map((contactId) => ({
        kind: 'subscribe' as const,
        businessId,
        receivedAt: NOW,
        contactId,
        channels: { email: false },
        method: 'form',
      })),
    ),
  'a goal': ({ businessId, contactIds, pipeline }) =>
    pipeline.apply(...contactIds.map((id) => track(businessId, eventFact('paid', { email: emailOf(id) })))),
  // Each erasure is a micro-batch of its own.
  'an erasure': async ({ businessId, contactIds, pipeline }) => {
    const answers = []
    for (const contactId of contactIds)
      answers.push(...(await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId })))
    return answers
  },
  'a suppression': async ({ businessId, contactIds }) => {
    const key = await loadMessageKey(stack.sql)
    const items = contactIds.map((id) => ({ channel: 'email', address: emailOf(id), reason: 'complaint' }) as const)
    await stack.sql.begin((tx) => suppress(tx, key, { businessId, now: NOW }, items))
  },
  'an archive': changeTo('archive'),
  'a pause': changeTo('pause'),
}

/** The contacts whose stop was answered. */
type Answered = Set<string>

/** Publishes campaigns of a few contacts each, all due now. */
async function fill(): Promise<Stopped[]> {
  const { businessId } = await createBusiness(stack.sql)
  const step = { id: 'a', type: 'send', channel: 'email', kind: 'marketing', template: crypto.randomUUID() }
  const tracking = { opens: true, clicks: true }
  const definition = { steps: [step], quietHours: null, caps: [], holdOut: 0, tracking }
  const published = { trigger: 'signup', goal: 'paid', definition, firstStep: 'a' }
  return Promise.all(
    Array.from({ length: CONTACTS / TOGETHER }, async (_, n) => {
      const campaignId = await insertCampaign(stack.sql, businessId, published)
      await fillDue(stack.sql, { businessId, campaignId, step: 'a', many: TOGETHER, dueAt: NOW })
      const rows = await stack.sql<{ id: string }[]>`
        select contact_id as id from due_steps where business_id = ${businessId} and campaign_id = ${campaignId}`
      const pipeline = pipelines[n % pipelines.length]!
      return { businessId, campaignId, contactIds: rows.map(({ id }) => id), pipeline }
    }),
  )
}

async function stopAll(all: Stopped[], stop: (stopped: Stopped) => Promise<unknown>, answered: Answered) {
  const later = () => sleep(Math.random() * LATEST_MS)
  const inTurn = async (some: Stopped[]) => {
    for (const one of some) {
      await later()
      const answers = await stop(one)
      // A fault would have been stored as a dead letter.
      expect(JSON.stringify(answers ?? null)).not.toContain('failed')
      for (const id of one.contactIds) answered.add(id)
    }
  }
  await Promise.all([...Map.groupBy(all, ({ pipeline }) => pipeline).values()].map(inTurn))
}

/** Claims until nothing is due. Returns the claimed contacts. None of them was stopped before the claim began. */
async function claimAll(engine: Engine, answered: Answered): Promise<string[]> {
  const claimed: string[] = []
  for (let idle = 0; idle < 2;) {
    await sleep(Math.random() * LATEST_MS)
    const before = new Set(answered)
    const taken = await engine.claim(CLAIMED)
    for (const { contactId } of taken) expect(before.has(contactId), 'was stopped before').toBe(false)
    claimed.push(...taken.map(({ contactId }) => contactId))
    const [{ many }] = await stack.sql<[{ many: number }]>`
      select count(*)::int as many from due_steps where not held and due_at <= ${NOW}`
    idle = many === 0 ? idle + 1 : 0
  }
  return claimed
}

it.each(Object.entries(STOPS))('%s raced against the claim', { timeout: 3_600_000 }, async (_, stop) => {
  let sent = 0
  let held = 0
  for (let races = 0; races < RACES; races += CONTACTS) {
    const all = await fill()
    const answered: Answered = new Set()
    const [, ...taken] = await Promise.all([
      stopAll(all, stop, answered),
      ...engines.map((engine) => claimAll(engine, answered)),
    ])
    const claimed = taken.flat()
    expect(new Set(claimed).size).toBe(claimed.length)
    const { businessId } = all[0]!
    const claimedThere = await stack.sql`
      select from messages where business_id = ${businessId} and state not in ('skipped')`
    expect(claimedThere).toHaveLength(claimed.length)
    sent += claimed.length
    held += CONTACTS - claimed.length
    // The next round must not find the rest.
    await stack.sql`delete from due_steps`
  }
  // Both must happen, or nothing was raced.
  expect(sent).toBeGreaterThan(0)
  expect(held).toBeGreaterThan(0)
})

it('a pause does not wait for claims that begin after it', async () => {
  const [stopped] = (await fill()) as [Stopped]
  const { businessId, campaignId } = stopped
  await stack.sql`delete from due_steps where campaign_id <> ${campaignId}`
  let claim = await holdClaim(engines[0]!.deps, 1)
  const pausing = changeTo('pause')(stopped)
  await vi.waitUntil(() => isWaiting(stack.sql, 'campaigns'), { timeout: PATIENCE_MS, interval: 5 })
  // Each claim begins before the previous one ends, and requests one row more than that one has taken.
  for (const which of [1, 0, 1]) {
    const next = await holdClaim(engines[which]!.deps, 2)
    await claim.letGo()
    claim = next
  }
  await pausing
  await claim.letGo()
  const claimed = await stack.sql`select from messages where business_id = ${businessId}`
  expect(claimed, 'by the claim before it').toHaveLength(1)
  await stack.sql`delete from due_steps`
})
