/**
 * A channel whose messages are refused because of the sender is paused, and its messages wait (campaigns, "Channels").
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { sleep } from '../../src/async/sleep.ts'
import { PAUSED_LOOK_MS } from '../../src/campaigns/engine/send/channel-turns.ts'
import type { Attempt } from '../../src/campaigns/engine/send/attempt.ts'
import { settle } from '../../src/campaigns/engine/settle/settle.ts'
import { explainEnrolments } from '../../src/campaigns/explain-enrolments.ts'
import { loadChannel } from '../../src/messages/channels/channels.ts'
import { forgetOutcomes, resumeSender } from '../../src/messages/channels/pause-channel.ts'
import { OPENING_LOCK } from '../../src/messages/channels/opening-lock.ts'
import { removeChannel } from '../../src/messages/channels/save-channel.ts'
import { LEAST_MESSAGES, REFUSAL_WINDOW_MS } from '../../src/rules/messages/too-many-refusals.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { type MailServer, openMailServer } from '../messages/channels/mail-server.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { NOW, type Pipeline, openPipeline } from '../support/facts.ts'
import { fillDue } from '../support/fill-due.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import {
  ACTOR,
  type Engine,
  HOUR,
  type Shop,
  holdClaim,
  isWaiting,
  openEngine,
  openShop,
  useMailServer,
} from './engine-lab.ts'

let stack: Stack
let otherSql: Sql
let pipeline: Pipeline
let engine: Engine
let engines: Engine[]
let shop: Shop
let server: MailServer
let campaignId: string
/** The server's answer to RCPT. Null: it accepts the mail. */
let refusal: string | null = null
beforeAll(async () => {
  stack = await openStack()
  otherSql = connectPostgres(stack.databaseUrl)
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack)
  engines = [engine, openEngine({ sql: otherSql })]
  server = await openMailServer({
    onRcptTo(_, __, done) {
      done(refusal === null ? null : Object.assign(new Error(refusal), { responseCode: 550 }))
    },
  })
})
afterAll(async () => {
  for (const one of engines) await one.close()
  await server.close()
  await otherSql.end()
  await stack.close()
})
beforeEach(async () => {
  for (const { clock } of engines) clock.now = NOW
  const { businessId } = await createBusiness(stack.sql)
  shop = openShop(stack, engine, pipeline, businessId)
  engine.clock.now = NOW - 1
  await setUp()
  engine.clock.now = NOW
  const template = await shop.template()
  campaignId = await shop.publish([{ id: 'a', type: 'send', channel: 'email', template }], { quietHours: null })
})
afterEach(() => stack.sql`delete from due_steps`)

const keyOf = () => ({ businessId: shop.businessId, channel: 'email' as const })
const setUp = () => useMailServer(stack, engine.deps, shop.businessId, server.port)
const BLAMES_SENDER = '5.7.1 your mail is not welcome'
const BLAMES_ADDRESS = '5.1.1 no such mailbox'

const moveTo = (now: number) => {
  for (const { clock } of engines) clock.now = now
}
async function fill(many: number): Promise<void> {
  const { businessId } = shop
  await fillDue(stack.sql, { businessId, campaignId, step: 'a', many, dueAt: engine.clock.now })
}
/** Sends this number of messages now. The server refuses them with `words`; null: it accepts them. */
async function sendAll(many: number, words: string | null): Promise<void> {
  refusal = words
  await fill(many)
  await engine.drain()
}
const pause = async () => {
  const { pausedAt, pauseReason } = await loadChannel(stack.sql, keyOf())
  return pausedAt === null ? null : { at: pausedAt, reason: pauseReason }
}
const countStates = async () => {
  const states = Map.groupBy(await shop.states(), (state) => state)
  return Object.fromEntries([...states].map(([state, all]) => [state, all.length]))
}
const resume = () => resumeSender(stack.sql, { ...keyOf(), sender: 'default', actor: ACTOR }, engine.clock.now)
/** Makes the channel paused. */
async function bePaused(): Promise<void> {
  await sendAll(LEAST_MESSAGES, BLAMES_SENDER)
  expect(await pause()).not.toBeNull()
}

describe('a channel', () => {
  it.each([
    ['5.4.1 Recipient address rejected: Access denied', 'bounced', 3],
    ['5.5.0 Requested action not taken: mailbox unavailable', 'bounced', 3],
    ['5.2.2 mailbox full', 'failed', 0],
    ['5.1.0 Address rejected', 'failed', 0],
    ['5.0.0 User unknown', 'failed', 0],
  ])('is not paused when 3 of 30 are refused as %j', async (words, state, suppressed) => {
    await sendAll(27, null)
    await sendAll(3, words)
    expect([await pause(), await countStates()]).toEqual([null, { 'a sent': 27, [`a ${state} provider_refused`]: 3 }])
    const [row] = await stack.sql<{ many: number }[]>`
      select count(*)::int as many from suppressions where business_id = ${shop.businessId} and reason = 'hard_bounce'`
    expect(row?.many).toBe(suppressed)
  })

  it('is paused by refusals because of the sender, from the least number on, and says so', async () => {
    await sendAll(LEAST_MESSAGES - 1, BLAMES_SENDER)
    expect(await pause()).toBeNull()
    await sendAll(1, BLAMES_SENDER)
    const reason = 'Of 20 messages in 10 minutes, 20 were refused because of the sender'
    expect(await pause()).toEqual({ at: NOW, reason })
    const rows = await stack.sql`
      select actor_name, target, details from audit_log
      where business_id = ${shop.businessId} and action = 'channel.pause'`
    expect([...rows]).toEqual([{ actor_name: 'Sluice', target: 'email', details: { messages: 20, refused: 20 } }])
    expect(await countStates()).toEqual({ 'a failed provider_refused': 20 })
    expect(await stack.sql`select from suppressions where business_id = ${shop.businessId}`).toHaveLength(0)
  })

  it('is not paused because of addresses', async () => {
    await sendAll(LEAST_MESSAGES, BLAMES_ADDRESS)
    expect(await countStates()).toEqual({ 'a bounced provider_refused': 20 })
    expect(await pause()).toBeNull()
  })

  it('is not paused by 5 % of its messages, and by one more', async () => {
    await sendAll(57, null)
    await sendAll(3, BLAMES_SENDER)
    expect(await pause()).toBeNull()
    await sendAll(1, BLAMES_SENDER)
    expect(await pause()).toMatchObject({
      reason: 'Of 61 messages in 10 minutes, 4 were refused because of the sender',
    })
  })

  it.each([
    ['exactly ten minutes ago count', REFUSAL_WINDOW_MS, true],
    ['ten minutes and a millisecond ago do not', REFUSAL_WINDOW_MS + 1, false],
  ])('refusals from %s', async (_, later, isPaused) => {
    await sendAll(LEAST_MESSAGES - 1, BLAMES_SENDER)
    moveTo(NOW + later)
    await forgetOutcomes(stack.sql, engine.clock.now)
    await sendAll(1, BLAMES_SENDER)
    expect((await pause()) !== null).toBe(isPaused)
  })

  it('is paused by what two workers have each seen half of', async () => {
    refusal = BLAMES_SENDER
    await fill(LEAST_MESSAGES)
    const claimed = [await engines[0]!.claim(LEAST_MESSAGES / 2), await engines[1]!.claim(LEAST_MESSAGES / 2)]
    await Promise.all(claimed.flatMap((sends, index) => sends.map((each) => engines[index]!.send(each))))
    expect(await pause()).toMatchObject({ at: NOW })
    const paused = await stack.sql`
      select from audit_log where business_id = ${shop.businessId} and action = 'channel.pause'`
    expect(paused).toHaveLength(1)
  })
})

describe('messages of a channel that is paused', () => {
  it('wait for it, in all workers, and say so', async () => {
    await bePaused()
    await fill(3)
    const many = server.heard.length
    refusal = null
    for (const one of engines) await one.drain()
    const [row] = await stack.sql<{ contactId: string }[]>`
      select contact_id as "contactId" from due_steps where business_id = ${shop.businessId} limit 1`
    const key = { businessId: shop.businessId, campaignId, contactId: row!.contactId }
    const [enrolment] = await explainEnrolments(stack.sql, key, { goal: null, limit: 1 })
    expect(enrolment).toMatchObject({ waitsFor: { type: 'channel_paused', channel: 'email' }, nextAt: null })
    moveTo(NOW + PAUSED_LOOK_MS)
    for (const one of engines) await one.drain()
    expect(server.heard).toHaveLength(many)
    expect((await shop.due()).map(({ due_at: at }) => at)).toEqual([0, 1, 2].map(() => NOW + 2 * HOUR))
  })

  it('go on at once when it is resumed, once, and former refusals do not count', async () => {
    await bePaused()
    await sendAll(3, null)
    moveTo(NOW + 1)
    expect(await resume()).toBe(true)
    expect(await resume()).toBe(false)
    await Promise.all(engines.map((one) => one.drain()))
    // Rows that both engines had locked, so that neither processed them.
    await engine.drain()
    expect(await countStates()).toEqual({ 'a failed provider_refused': 20, 'a sent': 3 })
    moveTo(NOW + 2)
    await sendAll(1, BLAMES_SENDER)
    expect(await pause()).toBeNull()
    const resumed = await stack.sql`
      select from audit_log where business_id = ${shop.businessId} and action = 'channel.resume'`
    expect(resumed).toHaveLength(1)
  })

  it('wait again when they are refused again', async () => {
    await bePaused()
    await sendAll(LEAST_MESSAGES + 5, null)
    moveTo(NOW + 1)
    await resume()
    moveTo(NOW + 2)
    refusal = BLAMES_SENDER
    const first = await engine.claim(LEAST_MESSAGES)
    await Promise.all(first.map((each) => engine.send(each)))
    await engine.drain()
    expect(await pause()).toMatchObject({ at: NOW + 2 })
    expect(await countStates()).toEqual({ 'a failed provider_refused': 40 })
    expect(await shop.due()).toHaveLength(5)
  })

  it('go on when it is set up again, and when its settings are deleted', async () => {
    await bePaused()
    await sendAll(1, null)
    moveTo(NOW + 1)
    await setUp()
    await engine.drain()
    expect(await countStates()).toEqual({ 'a failed provider_refused': 20, 'a sent': 1 })
    moveTo(NOW + 2)
    await bePaused()
    await sendAll(1, null)
    await removeChannel({ sql: stack.sql, now: engine.deps.now }, { ...keyOf(), actor: ACTOR })
    await engine.drain()
    expect(await countStates()).toEqual({ 'a failed provider_refused': 40, 'a sent': 2 })
    expect(await shop.logged()).toHaveLength(1)
  })

  it('are found by a resume that comes while a claim is holding them', async () => {
    await bePaused()
    await fill(1)
    const holding = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const claim = otherSql.begin(async (tx) => {
      await tx`
        select pg_advisory_xact_lock_shared(${tx.unsafe(OPENING_LOCK)}) from channels c where business_id = ${shop.businessId}`
      await tx`
        update due_steps set due_at = ${NOW + HOUR}, held_by = '{"type":"channel_paused","channel":"email"}'
        where business_id = ${shop.businessId}`
      holding.resolve()
      await goOn.promise
    })
    await holding.promise
    moveTo(NOW + 1)
    const resuming = resume()
    goOn.resolve()
    await Promise.all([claim, resuming])
    expect((await shop.due()).map(({ due_at: at }) => at)).toEqual([NOW + 1])
  })

  it('go on by a resume that does not wait for claims that begin after it', async () => {
    await bePaused()
    await fill(5)
    let claim = await holdClaim(engines[0]!.deps, 1)
    moveTo(NOW + 1)
    const resuming = resume()
    await vi.waitUntil(() => isWaiting(stack.sql, 'channel'), { timeout: PATIENCE_MS, interval: 5 })
    // Each claim begins before the previous one ends, and requests one row more than that one has taken.
    for (const which of [1, 0, 1]) {
      const next = await holdClaim(engines[which]!.deps, 2)
      await claim.letGo()
      claim = next
    }
    expect(await resuming).toBe(true)
    await claim.letGo()
    const dueAt = (await shop.due()).map(({ due_at: at }) => at)
    expect(dueAt, 'what the claim before it has held is woken').toContain(NOW + 1)
    expect(Math.max(...dueAt), 'what the later claims have held is looked at soon').toBeLessThan(NOW + PAUSED_LOOK_MS)
  })

  it('respect opt-outs', async () => {
    await bePaused()
    await fill(1)
    await engine.drain()
    await stack.sql`
      update subscriptions set subscribed = false where business_id = ${shop.businessId} and contact_id = (
        select contact_id from due_steps where business_id = ${shop.businessId})`
    await resume()
    await engine.drain()
    expect((await shop.states()).filter((state) => state.includes('no_opt_in'))).toHaveLength(1)
  })
})

describe('a refusal', () => {
  const refused: Attempt = {
    outcome: { kind: 'refused', reason: '550 5.7.1 no' },
    provider: 'smtp',
    from: null,
    rendered: null,
  }
  const counted = async () => {
    const [row] = await stack.sql<{ messages: number; refused: number }[]>`
      select coalesce(sum(messages), 0)::int as messages, coalesce(sum(refused), 0)::int as refused
      from channel_outcomes where business_id = ${shop.businessId}`
    return row
  }
  const claimOne = async () => {
    await fill(1)
    const [claimed] = await engine.claim()
    return claimed!
  }

  it('counts once, however often it is recorded', async () => {
    const claimed = await claimOne()
    for (let times = 0; times < 3; times += 1) await settle(engine.deps, claimed, refused)
    expect(await counted()).toEqual({ messages: 1, refused: 1 })
  })

  it('counts, and pauses, when others have held its message', async () => {
    await sendAll(LEAST_MESSAGES - 1, BLAMES_SENDER)
    const claimed = await claimOne()
    const locked = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const holding = otherSql.begin(async (tx) => {
      await tx`select from messages where id = ${claimed.messageId} for update`
      locked.resolve()
      await released.promise
    })
    await locked.promise
    const settling = settle(engine.deps, claimed, refused)
    await sleep(50)
    released.resolve()
    await Promise.all([holding, settling])
    expect(await counted()).toEqual({ messages: LEAST_MESSAGES, refused: LEAST_MESSAGES })
    expect(await pause()).not.toBeNull()
  })

  it('does not count while its message is tried again, without a provider, or by the log', async () => {
    const temporary: Attempt = { ...refused, outcome: { kind: 'temporary', reason: '451 later' } }
    for (const attempt of [temporary, { ...refused, provider: null }, { ...refused, provider: 'log' }])
      await settle(engine.deps, await claimOne(), attempt)
    expect(await counted()).toEqual({ messages: 0, refused: 0 })
  })
})

it('outcomes that no longer count are forgotten', async () => {
  await sendAll(1, null)
  await forgetOutcomes(stack.sql, NOW + 2 * REFUSAL_WINDOW_MS)
  const left = () => stack.sql`select from channel_outcomes where business_id = ${shop.businessId}`
  expect(await left()).toHaveLength(1)
  await forgetOutcomes(stack.sql, NOW + 2 * REFUSAL_WINDOW_MS + 1)
  expect(await left()).toHaveLength(0)
})
