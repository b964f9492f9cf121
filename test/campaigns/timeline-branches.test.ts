/**
 * Branches whose rules count or sum up the timeline are decided once the timeline contains everything that was answered
 * before.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { changeStatus } from '../../src/campaigns/change-status.ts'
import { type BranchDeps, answerBranches } from '../../src/campaigns/engine/branches/answer-branches.ts'
import { runBranches } from '../../src/campaigns/engine/branches/run-branches.ts'
import { createSetSizes } from '../../src/campaigns/engine/branches/set-sizes.ts'
import { createVersionCache } from '../../src/campaigns/engine/claim/version-cache.ts'
import { explainEnrolments } from '../../src/campaigns/explain-enrolments.ts'
import { loadPerson } from '../../src/campaigns/simulation/load-person.ts'
import { readDefinition } from '../../src/rules/campaigns/read-definition.ts'
import { loadDefinitions } from '../../src/segments/load-definitions.ts'
import { createPostponed } from '../../src/segments/windows/postponed.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { type World, openWorld } from '../segments/windows-support.ts'
import { insertSegment } from '../segments/segments-support.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { NOW, batch, eventFact, track } from '../support/facts.ts'
import { createBusiness } from '../support/stack.ts'
import { ACTOR, ANN, DAY, type Engine, HOUR, type Shop, openEngine, openShop } from './engine-lab.ts'

let world: World
let engine: Engine
let shop: Shop
let deps: BranchDeps
const { signal } = new AbortController()
beforeAll(async () => {
  world = await openWorld()
  engine = openEngine(world.stack)
  const { sql, clickhouse } = world.stack
  const log = pino({ level: 'silent' })
  const now = () => engine.clock.now
  const sizes = createSetSizes()
  deps = { sql, clickhouse, log, config: { leaseMs: 3000 }, versions: createVersionCache(), sizes, turnMs: 5000, now }
})
afterAll(async () => {
  await engine.close()
  await world.close()
})
beforeEach(async () => {
  await world.stack.sql`delete from due_steps`
  const { businessId } = await createBusiness(world.stack.sql)
  engine.clock.now = NOW
  shop = openShop(world.stack, engine, world.pipeline, businessId)
})

const BOB = { email: 'bob@x.io' }
const apply = (...calls: Parameters<World['pipeline']['apply']>) => world.pipeline.apply(...calls)
const paid = (more: Parameters<typeof eventFact>[2] = {}, identity: object = ANN) => ({
  ...track(shop.businessId, eventFact('paid', identity, { occurredAt: engine.clock.now, ...more })),
  receivedAt: engine.clock.now,
})
const count = (value: number, more: object = {}) => ({
  event: 'paid',
  metric: 'count',
  operator: 'greater_than_or_equal',
  value,
  withinDays: 1,
  ...more,
})
const send = (id: string, template: string) => ({ id, type: 'send', channel: 'email', template })
const branch = (rule: object, template: string, id = '') => ({
  id: `branch${id}`,
  type: 'branch',
  rule,
  steps: [send(`yes${id}`, template)],
  otherwise: [send(`no${id}`, template)],
})

/** Signs up a person who has opted in to email. */
async function signUp(identity: object = ANN): Promise<string> {
  const [seen] = await apply(shop.live('seen', identity))
  const { contactId } = seen as TrackAnswer
  await shop.optIn(contactId)
  await apply(shop.live('signup', identity, engine.clock.now))
  return contactId
}

const answer = () => answerBranches(deps, createPostponed(), signal)

/** Ships the outbox, answers waiting branches, and does what is due. */
async function follow(at = engine.clock.now): Promise<void> {
  engine.clock.now = at
  await world.ship()
  await answer()
  await engine.drain()
}

describe('a branch that counts the timeline', () => {
  it('sees what was answered before, once the timeline has it', async () => {
    const template = await shop.template()
    await shop.publish([branch(count(2), template)])
    await signUp()
    await apply(paid(), paid())
    await engine.drain()
    expect([await shop.states(), await answer()]).toEqual([[], 0])
    await world.ship()
    await engine.drain()
    expect(await shop.states()).toEqual([])
    expect(await answer()).toBe(1)
    await engine.drain()
    expect([await shop.states(), await shop.enrolments()]).toEqual([['yes sent'], ['finished']])
    expect(await answer()).toBe(0)
  })

  it.each([
    ['in the last millisecond of its window', -DAY, 'yes'],
    ['a millisecond before it', -DAY - 1, 'no'],
  ])('counts an event %s', async (_, ago, expected) => {
    const template = await shop.template()
    await shop.publish([{ id: 'w', type: 'wait', for: 'PT1H' }, branch(count(1), template)])
    await signUp()
    await apply(paid({ occurredAt: NOW + HOUR + ago }))
    await engine.drain()
    engine.clock.now = NOW + HOUR
    await engine.drain()
    await follow()
    expect(await shop.states()).toEqual([`${expected} sent`])
  })

  it.each([
    ['properties', count(1, { where: [{ property: 'item.colour', operator: 'equals', value: 'red' }] }), 'yes'],
    [
      'properties of one event',
      count(2, { where: [{ property: 'item.colour', operator: 'equals', value: 'red' }] }),
      'no',
    ],
    ['a sum', count(30, { metric: 'sum', property: 'amount' }), 'yes'],
    ['a sum that is not reached', count(30.01, { metric: 'sum', property: 'amount' }), 'no'],
    ['no event at all', { not: count(1, { event: 'cancelled' }) }, 'yes'],
    ['facts and counts together', { all: [count(2), { tag: 'vip', operator: 'has' }] }, 'no'],
  ])('decides by %s', async (_, rule, expected) => {
    const template = await shop.template()
    await shop.publish([branch(rule, template)])
    const bought = (colour: string, amount: number) =>
      paid({ properties: JSON.stringify({ item: { colour }, amount }) })
    await apply(bought('red', 10), bought('blue', 20))
    await signUp()
    await engine.drain()
    await follow()
    expect(await shop.states()).toEqual([`${expected} sent`])
  })

  it('reads a segment in the same way, and by its rule of that moment', async () => {
    const template = await shop.template()
    const { sql } = world.stack
    const { segmentId } = await insertSegment(sql, shop.businessId, count(1) as never)
    await shop.publish([branch({ segment: segmentId, operator: 'is_member' }, template)])
    await apply(paid())
    await signUp()
    await signUp(BOB)
    await engine.drain()
    await world.ship()
    expect(await answer()).toBe(2)
    const edited = { ...count(1), event: 'seen' }
    await sql`update segments set rule = ${JSON.stringify(edited)}::text::jsonb where id = ${segmentId}`
    await engine.drain()
    // The answers belong to another rule.
    expect(await shop.states()).toEqual([])
    await follow()
    expect((await shop.states()).toSorted()).toEqual(['yes sent', 'yes sent'])
  })

  it('answers one question once for the branches that follow, and asks anew for another', async () => {
    const template = await shop.template()
    await shop.publish([
      branch(count(1), template, '1'),
      branch(count(2), template, '2'),
      branch(count(1, { withinDays: 2 }), template, '3'),
    ])
    await apply(paid())
    await signUp()
    await engine.drain()
    await follow()
    expect(await shop.states()).toEqual(['yes1 sent'])
    await follow()
    expect(await shop.states()).toEqual(['yes1 sent', 'no2 sent'])
    await follow()
    expect(await shop.states()).toEqual(['yes1 sent', 'no2 sent', 'yes3 sent'])
  })

  it('does not count as a wait: a first message goes out in quiet hours', async () => {
    const template = await shop.template()
    await shop.publish([branch(count(1), template)], { quietHours: { from: '00:00', to: '23:59' } })
    await signUp()
    await engine.drain()
    await follow()
    expect(await shop.states()).toEqual(['no sent'])
  })

  it('says what it waits for', async () => {
    const template = await shop.template()
    const campaignId = await shop.publish([branch(count(1), template)])
    const contactId = await signUp()
    const { businessId } = shop
    const explained = () =>
      explainEnrolments(world.stack.sql, { businessId, campaignId, contactId }, { goal: null, limit: 1 })
    await engine.drain()
    expect(await explained()).toMatchObject([{ stepId: 'branch', nextAt: null, waitsFor: { type: 'timeline' } }])
    await world.ship()
    await answer()
    expect(await explained()).toMatchObject([{ nextAt: new Date(NOW).toISOString(), waitsFor: null }])
  })
})

describe('while it waits for the timeline', () => {
  const start = async (more: Parameters<Shop['publish']>[1] = {}) => {
    const campaignId = await shop.publish([branch(count(1), await shop.template())], more)
    const contactId = await signUp()
    await engine.drain()
    return { campaignId, contactId }
  }

  it('a goal ends the enrolment', async () => {
    await start({ goal: 'paid' })
    await apply(paid())
    await follow()
    expect([await shop.states(), await shop.enrolments(), await shop.due()]).toEqual([[], ['converted'], []])
  })

  it('a pause holds it, and the branch is decided by the counts of the resume', async () => {
    const { campaignId } = await start()
    const change = (to: 'pause' | 'resume') =>
      changeStatus(world.stack.sql, { businessId: shop.businessId, actor: ACTOR }, campaignId, to)
    await world.ship()
    await change('pause')
    await answer()
    await engine.drain()
    await apply(paid())
    await follow()
    expect([await shop.states(), await shop.due()]).toMatchObject([[], [{ held: true }]])
    await change('resume')
    await engine.drain()
    await follow()
    expect(await shop.states()).toEqual(['yes sent'])
  })

  it('a merge takes it along, with the events of both', async () => {
    await apply(paid({}, BOB))
    await start()
    for (const one of [ANN, BOB])
      await apply(track(shop.businessId, eventFact('met', { ...one, platformCustomerId: 'c-1' })))
    expect(
      await world.stack.sql`select from contacts where business_id = ${shop.businessId} and merged_into is null`,
    ).toHaveLength(1)
    await follow()
    expect(await shop.states()).toEqual(['yes sent'])
  })

  it('an answer that comes too late changes nothing', async () => {
    const { campaignId } = await start()
    await world.ship()
    await world.stack.sql`update due_steps set asked_outbox_id = asked_outbox_id + 1 where campaign_id = ${campaignId}`
    await world.stack
      .sql`insert into outbox (events, event_count, business_ids, contact_ids, changed) values ('', 0, '{}', '{}', '{}')`
    expect(await answer()).toBe(0)
    await follow()
    expect(await shop.states()).toEqual(['no sent'])
  })

  it('everything else goes on while ClickHouse is away', async () => {
    const template = await shop.template()
    await shop.publish([send('other', template)])
    await start()
    const away = { ...deps, clickhouse: connectClickHouse('http://127.0.0.1:9/away') }
    await world.ship()
    await expect(answerBranches(away, createPostponed(), signal)).rejects.toBeInstanceOf(Error)
    await engine.drain()
    expect(await shop.states()).toEqual(['other sent'])
    await follow()
    expect((await shop.states()).toSorted()).toEqual(['no sent', 'other sent'])
    await away.clickhouse.close()
  })

  it('one business whose counts cannot be read does not hold up another', async () => {
    await start()
    const first = shop
    await world.stack.sql`
      update campaign_versions set definition = jsonb_set(definition, '{steps,0,rule}', '{"segment":"gone","operator":"is_member"}')
      where business_id = ${first.businessId}`
    const { businessId } = await createBusiness(world.stack.sql)
    shop = openShop(world.stack, engine, world.pipeline, businessId)
    await start()
    deps.versions = createVersionCache()
    await world.ship()
    const postponed = createPostponed()
    expect(await answerBranches(deps, postponed, signal)).toBe(1)
    expect(postponed.keys()).toEqual([expect.stringContaining(first.businessId)])
    await engine.drain()
    expect([await first.states(), await shop.states()]).toEqual([[], ['no sent']])
  })
})

it('many people get the answers that are theirs', async () => {
  const template = await shop.template()
  await shop.publish([branch(count(3), template)], { quietHours: null })
  const people = Array.from({ length: 40 }, (_, n) => ({ email: `p${n}@x.io` }))
  const idOf = new Map<string, number>()
  for (const [n, person] of people.entries()) idOf.set(await signUp(person), n)
  await apply(
    batch(
      shop.businessId,
      people.flatMap((person, n) =>
        Array.from({ length: n % 5 }, () => eventFact('paid', person, { occurredAt: NOW - 1 })),
      ),
    ),
  )
  await engine.drain()
  await follow()
  const sent = (await shop.messages()) as { contact_id: string; step: string }[]
  expect(sent).toHaveLength(people.length)
  for (const { contact_id, step } of sent) expect(step).toBe(idOf.get(contact_id)! % 5 >= 3 ? 'yes' : 'no')
})

it('the worker answers by itself, and lets another one take over', async () => {
  const template = await shop.template()
  await shop.publish([branch(count(1), template)])
  await signUp()
  await apply(paid())
  await engine.drain()
  await world.ship()
  const stopping = new AbortController()
  const running = runBranches(deps, stopping.signal)
  const deadline = Date.now() + PATIENCE_MS
  while ((await shop.states()).length === 0 && Date.now() < deadline) {
    await sleep(20)
    await engine.drain()
  }
  stopping.abort()
  await running
  expect(await shop.states()).toEqual(['yes sent'])
  expect(await world.stack.sql`select from branch_lease where owner is not null`).toHaveLength(0)
})

it('a simulation counts what was answered before it', async () => {
  const { businessId } = shop
  const steps = [branch(count(2), await shop.template())]
  const contactId = await signUp()
  await apply(paid(), paid())
  const read = readDefinition({ steps }, { fields: new Map(), newId: () => crypto.randomUUID() })
  if ('faults' in read) throw new Error(JSON.stringify(read.faults))
  const definitions = await loadDefinitions(world.stack.sql, businessId)
  const load = (clickhouse = world.stack.clickhouse) =>
    loadPerson(
      { sql: world.stack.sql, clickhouse },
      { businessId, contactId },
      { ...read.definition, caps: [] },
      { definitions, from: NOW, now: NOW },
    )
  await world.ship()
  expect(await load()).toMatchObject({ facts: { windows: new Map([[expect.anything(), '2']]) } })
  const away = connectClickHouse('http://127.0.0.1:9/away')
  expect(await load(away)).toBe('unavailable')
  await away.close()
})
