/** A worker makes two claims at a time. The second one moves only what it can send in the claim. */
import { expect, it, vi } from 'vitest'
import { createSemaphore } from '../../src/async/semaphore.ts'
import { claimDue } from '../../src/campaigns/engine/claim-due.ts'
import type { EngineDeps } from '../../src/campaigns/engine/engine-deps.ts'
import { type FoundDue, MAX_OF_A_BUSINESS } from '../../src/campaigns/engine/find-due.ts'
import { MAX_IN_HAND, runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { sendInClaim } from '../../src/campaigns/engine/send-in-claim.ts'
import { settle } from '../../src/campaigns/engine/settle.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { openMailServer } from '../messages/channels/mail-server.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { NOW, type Pipeline } from '../support/facts.ts'
import { fillDue } from '../support/fill-due.ts'
import { type Stack, createBusiness } from '../support/stack.ts'
import { type Engine, type Shop, claimBeside, holdClaim, openShop, refuseUpdates, useMailServer } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
useEngineLab((lab) => ({ stack, pipeline, engine, shop } = lab))

const send = (id: string, template: string) => ({ id, type: 'send', channel: 'email', template })
const soon = { timeout: PATIENCE_MS, interval: 5 }

async function signUp(email: string): Promise<string> {
  const [seen] = (await pipeline.apply(shop.live('seen', { email }))) as [TrackAnswer]
  await shop.optIn(seen.contactId)
  await pipeline.apply(shop.live('signup', { email }, engine.clock.now))
  return seen.contactId
}

async function fill(of: Shop, many: number, now = NOW): Promise<string> {
  const campaignId = await of.publish([send('a', await of.template())], { trigger: 'joined', quietHours: null })
  await fillDue(stack.sql, { businessId: of.businessId, campaignId, step: 'a', many, dueAt: now })
  return campaignId
}

/** Nothing is made in time. */
async function whileRendererHangs<Result>(work: (deps: EngineDeps) => Promise<Result>): Promise<Result> {
  const rendering = createSemaphore(1)
  const done = Promise.withResolvers<void>()
  const hung = rendering.run(() => done.promise)
  try {
    return await work({ ...engine.deps, rendering, makeMs: 50 })
  } finally {
    done.resolve()
    await hung
  }
}

const nothing = { sends: [], updates: [], moved: 0, kept: [], whole: [] }
/** It has found something that it cannot move: the worker makes no such claims for a while. */
const left = { ...nothing, leftSome: true }

it('two claims at a time find others, and what a claim leaves is found again', async () => {
  await fill(shop, 20)
  const first = await holdClaim(engine.deps, 12)
  expect(await claimBeside(engine.deps)).toMatchObject({ sends: [], moved: 8 })
  expect(await claimBeside(engine.deps)).toMatchObject({ ...nothing, leftSome: false })
  expect((await first.letGo()).moved).toBe(12)
  expect(await shop.due()).toEqual([])

  await fill(shop, 5)
  const failed = claimDue(engine.deps, 5, { sendInClaim: () => Promise.reject(new Error('no')) })
  await expect(failed).rejects.toThrow('not sent in their claim')
  expect(await claimBeside(engine.deps)).toMatchObject({ moved: 5 })
  expect(new Set(await shop.states())).toEqual(new Set(['a sent']))
  expect(await shop.logged()).toHaveLength(25)
})

it('the second leaves what is sent after its claim, as if it had not looked', async () => {
  await signUp('ann@x.io')
  const template = await shop.template()
  await shop.publish([send('a', template)])
  await useMailServer(stack, engine.deps, shop.businessId, 9)
  await signUp('bob@x.io')
  const before = await shop.due()
  expect(before).toHaveLength(1)
  expect(await claimBeside(engine.deps)).toMatchObject(left)
  // A channel with a limit.
  await stack.sql`update channels set provider = 'log', per_second = 1 where business_id = ${shop.businessId}`
  expect(await claimBeside(engine.deps)).toMatchObject(left)
  expect(await shop.due()).toEqual(before)
  expect(await shop.messages()).toEqual([])
  // No turn was taken.
  expect((await claimDue(engine.deps, 1)).sends).toHaveLength(1)
})

it('the second leaves updates, attempts that failed, and messages that are not made in time', async () => {
  await shop.publish([{ id: 'u', type: 'update', addTags: ['new'] }])
  await signUp('ann@x.io')
  expect(await claimBeside(engine.deps)).toMatchObject(left)
  await stack.sql`delete from due_steps where business_id = ${shop.businessId}`

  await fill(shop, 1)
  expect(await whileRendererHangs((deps) => claimBeside(deps))).toMatchObject(left)
  expect([await shop.messages(), (await shop.due())[0]]).toMatchObject([[], { due_at: NOW, claim: null }])

  const [claimed] = await engine.claim()
  await settle(engine.deps, claimed!, { outcome: { kind: 'temporary' }, provider: null, rendered: null })
  engine.clock.now += 60_000
  expect(await claimBeside(engine.deps)).toMatchObject(left)
  await engine.drain()
  expect(await shop.states()).toEqual(['a sent'])
})

it('the second leaves a message with an update behind it, and a main claim sends it once', async () => {
  await shop.publish([send('a', await shop.template()), { id: 'u', type: 'update', addTags: ['new'] }])
  await signUp('ann@x.io')
  expect(await claimBeside(engine.deps)).toMatchObject(left)
  expect(await shop.logged()).toEqual([])
  expect(await claimDue(engine.deps, MAX_IN_HAND, { sendInClaim })).toMatchObject({ updates: [{}], whole: [] })
  expect(await shop.states()).toEqual(['a sent'])
  expect(await shop.logged()).toHaveLength(1)
})

it('a message that the second leaves counts for no cap', async () => {
  const caps = [{ channel: 'email', atMost: 1, days: 7, whenReached: 'skip' }]
  const template = await shop.template()
  for (const id of ['a', 'b']) await shop.publish([send(id, template)], { caps, quietHours: null })
  await signUp('ann@x.io')
  expect(await whileRendererHangs((deps) => claimBeside(deps))).toMatchObject(left)
  expect(await shop.messages()).toEqual([])
})

/** Counts the claims under way. */
function watchClaims({ due }: EngineDeps): { due: EngineDeps['due']; now: () => number; most: () => number } {
  let [many, most] = [0, 0]
  const note = (found: FoundDue[]): FoundDue[] => {
    if (found.length > 0) most = Math.max(most, (many += 1))
    return found
  }
  return {
    due: {
      find: async (...args) => note(await due.find(...args)),
      findOf: async (...args) => note(await due.findOf(...args)),
      release(found) {
        if (found.length > 0) many -= 1
        due.release(found)
      },
    },
    now: () => many,
    most: () => most,
  }
}

it('with two claims under way, places in hand, the share of a business and the rate of a channel hold', async () => {
  const now = Date.now()
  const open = async () => openShop(stack, engine, pipeline, (await createBusiness(stack.sql)).businessId)
  const [hanging, limited] = [await open(), await open()]
  await fill(shop, 3000, now)
  await fill(hanging, 100, now)
  await fill(limited, 12, now)
  const server = await openMailServer({ onData: (stream) => void stream.resume() })
  await useMailServer(stack, engine.deps, hanging.businessId, server.port)
  await useMailServer(stack, engine.deps, limited.businessId, 9)
  await stack.sql`update channels set provider = 'log', per_second = 5 where business_id = ${limited.businessId}`
  const claims = watchClaims(engine.deps)
  const stop = new AbortController()
  const deps = { ...engine.deps, due: claims.due, now: Date.now, submit: refuseUpdates, attemptMs: PATIENCE_MS }
  const running = runCampaigns({ ...deps, leaseMs: 3 * PATIENCE_MS }, stop.signal)
  const inHand: number[] = []
  await vi.waitUntil(async () => {
    const [row] = await stack.sql<[{ claimed: number; hanging: number; left: number }]>`
      select count(*)::int as claimed, count(*) filter (where business_id = ${hanging.businessId})::int as hanging,
        (select count(*)::int from due_steps where business_id in (${shop.businessId}, ${limited.businessId})) as left
      from messages where state = 'claimed' and business_id in (${shop.businessId}, ${hanging.businessId}, ${limited.businessId})`
    expect(row.claimed).toBeLessThanOrEqual(MAX_IN_HAND)
    expect(row.hanging).toBeLessThanOrEqual(MAX_OF_A_BUSINESS)
    inHand.push(row.hanging)
    return row.left === 0
  }, soon)
  // Both must happen, or nothing was tested.
  expect([claims.most(), Math.max(...inHand)]).toEqual([2, MAX_OF_A_BUSINESS])
  expect(new Set(await shop.states())).toEqual(new Set(['a sent']))
  expect(await shop.messages()).toHaveLength(3000)
  const turns = (await limited.messages()) as { claimed_at: number }[]
  expect(turns).toHaveLength(12)
  for (const many of Map.groupBy(turns, ({ claimed_at: at }) => Math.floor(at / 1000)).values())
    expect(many.length).toBeLessThanOrEqual(5)
  stop.abort()
  await server.close()
  await running
  expect(claims.now()).toBe(0)
})

it('a message that cannot be kept holds up none of those beside it', async () => {
  await stack.sql`alter table logged_messages add constraint no_poison check (message->>'text' <> 'poison')`
  const poison = await shop.publish([send('b', await shop.template('email', 'poison'))], { trigger: 'poisoned' })
  await fillDue(stack.sql, { businessId: shop.businessId, campaignId: poison, step: 'b', many: 3, dueAt: NOW })
  await fill(shop, 500)
  const stop = new AbortController()
  const running = runCampaigns(engine.deps, stop.signal)
  await vi.waitUntil(async () => (await shop.states()).filter((state) => state === 'a sent').length === 500, soon)
  stop.abort()
  await running
  await stack.sql`alter table logged_messages drop constraint no_poison`
  expect((await shop.states()).filter((state) => state.startsWith('b'))).toEqual([
    'b claimed',
    'b claimed',
    'b claimed',
  ])
})
