/** What a claim takes, what it leaves, and that no message holds up others. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { sleep } from '../../src/async/sleep.ts'
import { storeSettings } from '../../src/businesses/businesses.ts'
import { claimDue } from '../../src/campaigns/engine/claim/claim-due.ts'
import type { EngineDeps } from '../../src/campaigns/engine/engine-deps.ts'
import { MAX_OF_A_BUSINESS } from '../../src/campaigns/engine/claim/find-due.ts'
import { ENGINE_SETTINGS } from '../../src/campaigns/engine/open-engine.ts'
import { MAX_IN_FLIGHT, runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { openMailServer } from '../messages/channels/mail-server.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'
import { NOW, type Pipeline } from '../support/facts.ts'
import { fillDue } from '../support/fill-due.ts'
import { type Stack, createBusiness } from '../support/stack.ts'
import { ANN, type Engine, HOUR, MINUTE, type Shop, holdClaim, openShop, useMailServer } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
useEngineLab((lab) => ({ stack, pipeline, engine, shop } = lab))

const send = (id: string, template: string) => ({ id, type: 'send', channel: 'email', template })
const open = async () => openShop(stack, engine, pipeline, (await createBusiness(stack.sql)).businessId)
const soon = { timeout: PATIENCE_MS, interval: 5 }

async function signUp(): Promise<string> {
  const [seen] = (await pipeline.apply(shop.live('seen'))) as [TrackAnswer]
  await shop.optIn(seen.contactId)
  await pipeline.apply(shop.live('signup', ANN, engine.clock.now))
  return seen.contactId
}

/** Publishes a campaign with that number of due enrolments. */
async function fill(of: Shop, many: number, now = NOW): Promise<void> {
  const campaignId = await of.publish([send('a', await of.template())], { trigger: 'joined', quietHours: null })
  await fillDue(stack.sql, { businessId: of.businessId, campaignId, step: 'a', many, dueAt: now })
}

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** Runs the worker until the end of the test, or until the returned function is called. */
function start(deps: EngineDeps = engine.deps): () => Promise<void> {
  const stopping = new AbortController()
  const running = runCampaigns(deps, stopping.signal)
  const stop = async () => {
    stopping.abort()
    await running
  }
  stops.push(stop)
  return stop
}

it('the claim of a process that stands still is undone, so that its contacts can be saved', async () => {
  await shop.publish([send('a', await shop.template())])
  const contactId = await signUp()
  const sql = connectPostgres(stack.databaseUrl, { max: 2, settings: ENGINE_SETTINGS })
  try {
    const standing = await holdClaim({ ...engine.deps, sql }, 64)
    const locked = stack.sql`select from contacts where id = ${contactId} for update nowait`
    await expect(locked).rejects.toThrow('could not obtain lock')
    const began = performance.now()
    await pipeline.apply(shop.live('seen'))
    expect(performance.now() - began).toBeLessThan(atLoad(5000))
    await expect(standing.letGo()).rejects.toThrow(/idle-in-transaction|CONNECTION_CLOSED/)
  } finally {
    await sql.end({ timeout: 1 })
  }
  expect(await shop.messages()).toEqual([])
  await engine.drain()
  expect(await shop.states()).toEqual(['a sent'])
})

it('an enrolment has one message in each claim, so that the next one is decided anew', async () => {
  const template = await shop.template()
  await shop.publish([send('a', template), send('b', template), send('c', template)])
  const contactId = await signUp()
  for (const sent of [['a sent'], ['a sent', 'b sent']]) {
    const [claimed] = await engine.claim()
    await engine.send(claimed!)
    expect(await shop.states()).toEqual(sent)
  }
  await shop.optIn(contactId, 'email', false)
  expect(await engine.claim()).toEqual([])
  expect(await shop.states()).toEqual(['a sent', 'b sent', 'c skipped no_opt_in'])
  expect(await shop.enrolments()).toEqual(['finished'])
})

it('a provider that is chosen after the claim sends its message', async () => {
  await shop.publish([send('a', await shop.template())])
  await signUp()
  const [claimed] = await engine.claim()
  await useMailServer(stack, engine.deps, shop.businessId, 9)
  await engine.send(claimed!)
  // No server listens at that address.
  expect(await shop.messages()).toMatchObject([{ state: 'claimed', provider: 'smtp' }])
  expect(await shop.logged()).toEqual([])
})

describe('nobody is held up', () => {
  it('by an enrolment that cannot go on behind its message', async () => {
    const template = await shop.template()
    const campaignId = await shop.publish([send('a', template), { id: 'w', type: 'wait', for: 'PT1H' }])
    await shop.publish([send('b', template), { id: 'w', type: 'wait', for: 'PT1H' }])
    await stack.sql`
      update campaign_versions set definition = jsonb_set(definition, '{steps,1,for}', '"for ever"') where campaign_id = ${campaignId}`
    await signUp()
    await engine.drain()
    expect((await shop.states()).toSorted()).toEqual(['a sent', 'b sent'])
    expect(await shop.due()).toMatchObject([
      { step: 'a', due_at: NOW + MINUTE, settled: true },
      { step: 'w', due_at: NOW + HOUR },
    ])
  })

  it('by a provider that this version does not know', async () => {
    await fill(shop, 3)
    await useMailServer(stack, engine.deps, shop.businessId, 9)
    await stack.sql`update channels set provider = 'carrier_pigeon' where business_id = ${shop.businessId}`
    const other = await open()
    await fill(other, 3)
    start()
    const sent = ['a sent', 'a sent', 'a sent']
    await vi.waitUntil(async () => String(await other.states()) === String(sent), soon)
    expect(new Set(await shop.states())).toEqual(new Set(['a claimed']))
  })

  it('by a message that the log cannot store, which is tried again', async () => {
    await stack.sql`alter table logged_messages add constraint no_poison check (message->>'text' <> 'poison')`
    const poison = await shop.publish([send('b', await shop.template('email', 'poison'))], { trigger: 'poisoned' })
    await fillDue(stack.sql, { businessId: shop.businessId, campaignId: poison, step: 'b', many: 3, dueAt: NOW })
    await fill(shop, 100)
    const stop = start()
    const statesOf = async (step: string) => (await shop.states()).filter((state) => state.startsWith(step))
    await vi.waitUntil(async () => (await statesOf('a')).filter((state) => state === 'a sent').length === 100, soon)
    await stop()
    await stack.sql`alter table logged_messages drop constraint no_poison`
    expect(await statesOf('b')).toEqual(['b claimed', 'b claimed', 'b claimed'])
    await engine.drain(NOW + MINUTE)
    expect(await statesOf('b')).toEqual(['b sent', 'b sent', 'b sent'])
    expect(await shop.logged()).toHaveLength(103)
  })
})

it('a message that the log has stored without knowing it is stored once', async () => {
  await shop.publish([send('a', await shop.template())])
  await signUp()
  const [claimed] = await engine.claim()
  await engine.send(claimed!)
  await stack.sql`update messages set state = 'claimed', sent_at = null where business_id = ${shop.businessId}`
  await engine.send(claimed!)
  expect(await shop.states()).toEqual(['a sent'])
  expect(await shop.logged()).toHaveLength(1)
})

it('the messages in flight, the share of a business and the rate of a channel hold while much is due', async () => {
  const now = Date.now()
  const [hanging, limited] = [await open(), await open()]
  await fill(shop, 300, now)
  await fill(hanging, 100, now)
  await fill(limited, 12, now)
  const server = await openMailServer({ onData: (stream) => void stream.resume() })
  await useMailServer(stack, engine.deps, hanging.businessId, server.port)
  await useMailServer(stack, engine.deps, limited.businessId, 9)
  await stack.sql`update channels set provider = 'log', per_second = 5 where business_id = ${limited.businessId}`
  const stop = start({ ...engine.deps, now: Date.now, attemptMs: PATIENCE_MS, leaseMs: 3 * PATIENCE_MS })
  const ofBusiness: number[] = []
  await vi.waitUntil(async () => {
    const [row] = await stack.sql<[{ claimed: number; hanging: number; left: number }]>`
      select count(*)::int as claimed, count(*) filter (where business_id = ${hanging.businessId})::int as hanging,
        (select count(*)::int from due_steps where business_id in (${shop.businessId}, ${limited.businessId})) as left
      from messages where state = 'claimed' and business_id in (${shop.businessId}, ${hanging.businessId}, ${limited.businessId})`
    expect(row.claimed).toBeLessThanOrEqual(MAX_IN_FLIGHT)
    expect(row.hanging).toBeLessThanOrEqual(MAX_OF_A_BUSINESS)
    ofBusiness.push(row.hanging)
    return row.left === 0
  }, soon)
  // It must happen, or nothing was tested.
  expect(Math.max(...ofBusiness)).toBe(MAX_OF_A_BUSINESS)
  expect(new Set(await shop.states())).toEqual(new Set(['a sent']))
  expect(await shop.messages()).toHaveLength(300)
  const turns = (await limited.messages()) as { claimed_at: number }[]
  expect(turns).toHaveLength(12)
  for (const many of Map.groupBy(turns, ({ claimed_at: at }) => Math.floor(at / 1000)).values())
    expect(many.length).toBeLessThanOrEqual(5)
  const stopped = stop()
  await server.close()
  await stopped
})

describe('a business that is deactivated', () => {
  it.each([
    ['deactivated', { active: false }],
    ['removed', { removed_at: new Date() }],
  ])('after a claim has found its enrolments is left alone (%s)', async (_, change) => {
    await fill(shop, 5)
    const { due } = engine.deps
    const stopAfter: EngineDeps['due'] = {
      async find(...args) {
        const found = await due.find(...args)
        await stack.sql`update businesses set ${stack.sql(change)} where id = ${shop.businessId}`
        return found
      },
    }
    const before = await shop.due()
    const nothing = { sends: [], updates: [], moved: 0 }
    expect(await claimDue({ ...engine.deps, due: stopAfter }, 64)).toEqual(nothing)
    expect([await shop.messages(), await shop.due()]).toEqual([[], before])
    await stack.sql`update businesses set active = true, removed_at = null where id = ${shop.businessId}`
    expect(await engine.claim()).toHaveLength(5)
  })

  it('while much of it is due gets no further message, and the others later', async () => {
    await fill(shop, 500)
    const stop = start()
    const countSent = async () => {
      const [{ sent }] = await stack.sql<[{ sent: number }]>`
        select count(*)::int as sent from messages where business_id = ${shop.businessId}`
      return sent
    }
    await vi.waitUntil(async () => (await countSent()) > 100, soon)
    await storeSettings(stack.sql, shop.businessId, { active: false })
    // A claim may have its locks already.
    await sleep(atLoad(500))
    const sent = await countSent()
    expect(sent).toBeLessThan(500)
    await sleep(1500)
    expect(await countSent()).toBe(sent)
    await storeSettings(stack.sql, shop.businessId, { active: true })
    await vi.waitUntil(async () => (await shop.due()).length === 0, soon)
    await stop()
    expect(await shop.states()).toEqual(Array.from({ length: 500 }, () => 'a sent'))
  })
})
