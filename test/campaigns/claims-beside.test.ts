/** A worker makes two claims at a time. The second one moves only what it can send in the claim. */
import { describe, expect, it, vi } from 'vitest'
import type { Semaphores } from '../../src/async/semaphore.ts'
import { sleep } from '../../src/async/sleep.ts'
import { updateBusiness } from '../../src/businesses/businesses.ts'
import { claimDue } from '../../src/campaigns/engine/claim-due.ts'
import type { EngineDeps } from '../../src/campaigns/engine/engine-deps.ts'
import { type FoundDue, MAX_OF_A_BUSINESS } from '../../src/campaigns/engine/find-due.ts'
import { MAX_IN_FLIGHT, PAUSE_MS, runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { sendInClaim } from '../../src/campaigns/engine/send-in-claim.ts'
import { settle } from '../../src/campaigns/engine/settle.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { MAX_LOGGED } from '../../src/messages/channels/logged-messages.ts'
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
  const done = Promise.withResolvers<void>()
  const rendering: Semaphores = { run: async (_, made) => done.promise.then(made) }
  try {
    return await work({ ...engine.deps, rendering, makeMs: 50 })
  } finally {
    done.resolve()
  }
}

const nothing = { sends: [], updates: [], moved: 0, kept: [], sentInClaim: [] }
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
  expect(await claimDue(engine.deps, MAX_IN_FLIGHT, { sendInClaim })).toMatchObject({ updates: [{}], sentInClaim: [] })
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
  const inFlight: number[] = []
  await vi.waitUntil(async () => {
    const [row] = await stack.sql<[{ claimed: number; hanging: number; left: number }]>`
      select count(*)::int as claimed, count(*) filter (where business_id = ${hanging.businessId})::int as hanging,
        (select count(*)::int from due_steps where business_id in (${shop.businessId}, ${limited.businessId})) as left
      from messages where state = 'claimed' and business_id in (${shop.businessId}, ${hanging.businessId}, ${limited.businessId})`
    expect(row.claimed).toBeLessThanOrEqual(MAX_IN_FLIGHT)
    expect(row.hanging).toBeLessThanOrEqual(MAX_OF_A_BUSINESS)
    inFlight.push(row.hanging)
    return row.left === 0
  }, soon)
  // Both must happen, or nothing was tested.
  expect([claims.most(), Math.max(...inFlight)]).toEqual([2, MAX_OF_A_BUSINESS])
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

it('the second pauses when it has found earlier attempts, and then goes on: nothing is sent twice or forgotten', async () => {
  const campaignId = await fill(shop, 12)
  for (const claimed of await engine.claim())
    await settle(engine.deps, claimed, { outcome: { kind: 'temporary' }, provider: null, rendered: null })
  await stack.sql`update due_steps set due_at = ${NOW + 1} where business_id = ${shop.businessId}`
  const tried = await stack.sql<{ id: string }[]>`
    select enrolment_id as id from due_steps where business_id = ${shop.businessId} and message_id is not null`
  const isTried = new Set(tried.map(({ id }) => id))
  expect(isTried.size).toBe(12)
  let many = 12
  const add = async (more: number, dueAt: number) => {
    many += more
    await fillDue(stack.sql, { businessId: shop.businessId, campaignId, step: 'a', many: more, dueAt })
  }
  // The first claim takes 48, the second one finds the others, and after them the earlier attempts.
  await add(70, NOW)
  await add(120, NOW + 2)
  engine.clock.now = NOW + 3
  const { due } = engine.deps
  const besides: { at: number; tried: number }[] = []
  const hasLooked = Promise.withResolvers<void>()
  let finds = 0
  const watched: EngineDeps['due'] = {
    ...due,
    async find(...args) {
      finds += 1
      if (finds > 1) await hasLooked.promise
      return due.find(...args)
    },
    async findOf(...args) {
      const found = await due.findOf(...args)
      const tries = found.filter(({ enrolmentId }) => isTried.has(enrolmentId))
      besides.push({ at: performance.now(), tried: tries.length })
      hasLooked.resolve()
      return found
    },
  }
  const stop = new AbortController()
  const running = runCampaigns({ ...engine.deps, due: watched }, stop.signal)
  const isDone = async () => (await shop.due()).length === 0
  await vi.waitUntil(isDone, soon)
  // Without the pause, forty enrolments lead to a second claim.
  while (besides.length < 2) {
    expect(performance.now() - besides[0]!.at).toBeLessThan(PATIENCE_MS)
    await add(40, NOW)
    await vi.waitUntil(isDone, soon)
    await sleep(PAUSE_MS / 10)
  }
  stop.abort()
  await running
  const [first, second] = besides as [(typeof besides)[0], (typeof besides)[0]]
  expect(first.tried).toBe(12)
  expect(second.at - first.at).toBeGreaterThanOrEqual(PAUSE_MS)
  expect(second.tried).toBe(0)
  const messages = (await shop.messages()) as { enrolment_id: string; state: string }[]
  expect(messages.filter(({ state }) => state !== 'sent')).toEqual([])
  expect(new Set(messages.map(({ enrolment_id }) => enrolment_id)).size).toBe(many)
  // The channel forgets none of so few.
  expect(many).toBeLessThan(MAX_LOGGED)
  const recipients = (await shop.logged()).map(({ recipient }) => recipient)
  expect([recipients.length, new Set(recipients).size, messages.length]).toEqual([many, many, many])
  expect(await shop.enrolments()).toEqual(Array.from({ length: many }, () => 'finished'))
})

describe('a business that is deactivated', () => {
  it.each([
    ['a main claim', 'deactivated', { active: false }],
    ['a claim beside', 'deactivated', { active: false }],
    ['a claim beside', 'removed', { removed_at: new Date() }],
  ])('after %s has found its enrolments is left alone (%s)', async (claim, _, change) => {
    const campaignId = await fill(shop, 5)
    const { due } = engine.deps
    const stopAfter = async (found: FoundDue[]) => {
      await stack.sql`update businesses set ${stack.sql(change)} where id = ${shop.businessId}`
      return found
    }
    const slow: EngineDeps['due'] = {
      ...due,
      find: async (...args) => stopAfter(await due.find(...args)),
      findOf: async (...args) => stopAfter(await due.findOf(...args)),
    }
    const options = claim === 'a main claim' ? {} : { besideFor: [{ businessId: shop.businessId, campaignId }] }
    const before = await shop.due()
    expect(await claimDue({ ...engine.deps, due: slow }, 64, { ...options, sendInClaim })).toMatchObject(nothing)
    expect([await shop.messages(), await shop.logged(), await shop.due()]).toEqual([[], [], before])
    await stack.sql`update businesses set active = true, removed_at = null where id = ${shop.businessId}`
    expect(await claimDue(engine.deps, 64, { ...options, sendInClaim })).toMatchObject({ moved: 5 })
  })

  it('while two claims of it are under way gets no further message, and the others later', async () => {
    await fill(shop, 3000)
    const { due } = engine.deps
    const open = new Set<FoundDue[]>()
    const note = (found: FoundDue[]) => {
      open.add(found)
      return found
    }
    const watched: EngineDeps['due'] = {
      find: async (...args) => note(await due.find(...args)),
      findOf: async (...args) => note(await due.findOf(...args)),
      release(found) {
        open.delete(found as FoundDue[])
        due.release(found)
      },
    }
    const stop = new AbortController()
    const running = runCampaigns({ ...engine.deps, due: watched }, stop.signal)
    const countSent = async () => {
      const [{ sent }] = await stack.sql<[{ sent: number }]>`
        select count(*)::int as sent from messages where business_id = ${shop.businessId}`
      return sent
    }
    await vi.waitUntil(async () => (await countSent()) > 200, soon)
    await updateBusiness(stack.sql, shop.businessId, { active: false })
    // These may have their locks already.
    const before = [...open]
    await vi.waitUntil(() => before.every((found) => !open.has(found)), soon)
    const sent = await countSent()
    expect(sent).toBeLessThan(3000)
    await sleep(1500)
    expect(await countSent()).toBe(sent)
    await updateBusiness(stack.sql, shop.businessId, { active: true })
    await vi.waitUntil(async () => (await shop.due()).length === 0, soon)
    stop.abort()
    await running
    expect(await shop.states()).toEqual(Array.from({ length: 3000 }, () => 'a sent'))
  })
})
