/** Whom a broadcast enrols: each member at one instant, once. */
import { pino } from 'pino'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { readBroadcast } from '../../src/campaigns/broadcasts.ts'
import { changeStatus, type StatusChange } from '../../src/campaigns/change-status.ts'
import { enrolBroadcast } from '../../src/campaigns/engine/enrol-broadcast.ts'
import { MAX_ENROLMENTS } from '../../src/rules/limits.ts'
import type { Rule } from '../../src/rules/segments/rule.ts'
import { settleDue } from '../../src/segments/settle-due.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { NOW, type Pipeline, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness } from '../support/stack.ts'
import { type TestSegment, insertSegment } from '../segments/segments-support.ts'
import { ACTOR, ANN, DAY, type Engine, HOUR, MINUTE, type Shop, isWaiting, openShop } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

const BOB = { email: 'bob@x.io' }
const CAT = { email: 'cat@x.io' }
const WAIT = [{ id: 'w', type: 'wait', for: 'P1D' }]

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
useEngineLab((lab) => ({ stack, pipeline, engine, shop } = lab))
beforeEach(async () => {
  // The engine serves all businesses.
  await stack.sql`update broadcasts set due_at = null`
  await stack.sql`delete from segment_clock`
})

const happened = (event: string): Rule => ({ event, metric: 'count', operator: 'greater_than_or_equal', value: 1 })
/** A segment that contacts enter with `joined` and leave with `gone`. */
const insertClub = (): Promise<TestSegment> =>
  insertSegment(stack.sql, shop.businessId, { all: [happened('joined'), { not: happened('gone') }] })
const does = async (event: string, ...people: object[]): Promise<string[]> => {
  const answers = await pipeline.apply(...people.map((identity) => shop.live(event, identity, engine.clock.now)))
  return (answers as TrackAnswer[]).map(({ contactId }) => contactId)
}
const publish = ({ segmentId }: TestSegment, { at, ...more }: { at?: number } & Record<string, unknown> = {}) =>
  shop.publish(WAIT, {
    trigger: {
      segment: segmentId,
      on: 'members',
      ...(at !== undefined && { at: new Date(at).toISOString() }),
    },
    ...more,
  })
const change = (campaignId: string, to: StatusChange) =>
  changeStatus(stack.sql, { businessId: shop.businessId, actor: ACTOR }, campaignId, to)
const step = () => enrolBroadcast(engine.deps)
/** Enrols until nothing is left to do at this instant. */
async function enrolAll(now = engine.clock.now): Promise<void> {
  engine.clock.now = now
  while (await step()) continue
}
const entered = async () => {
  const rows = await stack.sql<{ id: string }[]>`
    select contact_id as id from enrolments where business_id = ${shop.businessId} order by contact_id`
  return rows.map(({ id }) => id)
}
const sorted = (...ids: (string | undefined)[]) => ids.map(String).toSorted()
const progress = (campaignId: string) => readBroadcast(stack.sql, { businessId: shop.businessId, campaignId })
const iso = (at: number) => new Date(at).toISOString()

async function settleUntil(now: number): Promise<void> {
  const log = pino({ level: 'silent' })
  const deps = { sql: stack.sql, log, config: { leaseMs: 3000 }, configs: new Map(), now: () => now }
  while ((await settleDue(deps)) === 'more') continue
}

describe('at the publish', () => {
  it('enrols its members, whatever they do next, and nobody who comes later', async () => {
    const club = await insertClub()
    const [ann, bob] = await does('joined', ANN, BOB)
    await does('seen', CAT)
    const id = await publish(club)
    expect(await progress(id)).toEqual({ at: iso(NOW), members: 2, enrolled: 0, doneAt: null })
    await does('joined', CAT)
    await does('gone', BOB)
    await enrolAll(NOW + 500)
    expect(await entered()).toEqual(sorted(ann, bob))
    expect(await progress(id)).toEqual({ at: iso(NOW), members: 2, enrolled: 2, doneAt: iso(NOW + 500) })
    await does('joined', { email: 'dan@x.io' })
    expect(await step()).toBe(false)
    expect(await entered()).toHaveLength(2)
  })

  it('makes the enrolments that a save makes, of its own instant, whose steps begin when they are made', async () => {
    const club = await insertClub()
    await does('joined', ANN)
    await publish(club)
    await enrolAll(NOW + 500)
    const [made] = await stack.sql`
      select e.version, e.state, e.enrolled_at, e.received_at, e.ended_at, e.event_name, d.step, d.began_at, d.due_at, d.waited
      from enrolments e join due_steps d on d.enrolment_id = e.id and d.contact_id = e.contact_id`
    expect(made).toEqual({
      version: 1,
      state: 'active',
      enrolled_at: NOW,
      received_at: NOW,
      ended_at: null,
      event_name: null,
      step: 'w',
      began_at: NOW + 500,
      due_at: NOW + 500,
      waited: false,
    })
  })

  it('sends at once, in quiet hours too, with opt-outs judged at the send', async () => {
    const club = await insertClub()
    const [ann, bob] = await does('joined', ANN, BOB)
    for (const one of [ann!, bob!]) await shop.optIn(one)
    engine.clock.now = NOW + 11 * HOUR
    const template = await shop.template()
    const trigger = { segment: club.segmentId, on: 'members' as const }
    await shop.publish([{ id: 'a', type: 'send', channel: 'email', template }], { trigger })
    await enrolAll()
    await shop.optIn(bob!, 'email', false)
    await engine.drain()
    expect((await shop.states()).toSorted()).toEqual(['a sent', 'a skipped no_opt_in'])
    expect(await shop.enrolments()).toEqual(['finished', 'finished'])
  })

  it('counts an earlier `at` as the publish, and is done at once without members', async () => {
    const id = await publish(await insertClub(), { at: NOW - DAY })
    expect(await progress(id)).toEqual({ at: iso(NOW), members: 0, enrolled: 0, doneAt: iso(NOW) })
    expect(await step()).toBe(false)
  })

  it('converts at once who has reached the goal since, and not who had before', async () => {
    const club = await insertClub()
    const [ann, bob] = await does('joined', ANN, BOB)
    engine.clock.now = NOW - 1
    await does('paid', BOB)
    engine.clock.now = NOW
    await publish(club, { goal: 'paid' })
    await does('paid', ANN)
    await enrolAll(NOW + 500)
    const rows = await stack.sql`
      select contact_id, state, ended_at from enrolments where business_id = ${shop.businessId} order by state`
    expect([...rows]).toEqual([
      { contact_id: bob, state: 'active', ended_at: null },
      { contact_id: ann, state: 'converted', ended_at: NOW + 500 },
    ])
    expect(await shop.due()).toHaveLength(1)
    // The workers already knew these contacts. They see the enrolment.
    await does('paid', BOB)
    expect(await shop.enrolments()).toEqual(['converted', 'converted'])
  })

  it('waits for a segment whose members are being computed, and takes the rule in force of one that was edited', async () => {
    const club = await insertClub()
    const [ann] = await does('joined', ANN)
    await stack.sql`update segment_rules set state = 'building' where no = ${club.no}`
    const id = await publish(club)
    expect(await progress(id)).toMatchObject({ at: iso(NOW), members: null })
    await enrolAll(NOW + 1000)
    expect(await entered()).toEqual([])
    await stack.sql`update segment_rules set state = 'current' where no = ${club.no}`
    await insertSegment(stack.sql, shop.businessId, happened('seen'), 'building', club.segmentId)
    await enrolAll(NOW + 2000)
    expect(await progress(id)).toMatchObject({ at: iso(NOW + 2000), members: 1, enrolled: 1 })
    expect(await entered()).toEqual([ann])
  })
})

describe('later', () => {
  const at = NOW + HOUR

  it('enrols the members of then', async () => {
    const club = await insertClub()
    const [, bob] = await does('joined', ANN, BOB)
    const id = await publish(club, { at })
    expect(await progress(id)).toEqual({ at: iso(at), members: null, enrolled: 0, doneAt: null })
    await enrolAll(at - 1)
    await does('gone', ANN)
    const [cat] = await does('joined', CAT)
    expect(await entered()).toEqual([])
    await enrolAll(at)
    await does('gone', BOB)
    expect(await entered()).toEqual(sorted(bob, cat))
    expect(await progress(id)).toEqual({ at: iso(at), members: 2, enrolled: 2, doneAt: iso(at) })
  })

  it('counts who enters by time at that very instant', async () => {
    const rule: Rule = { event: 'visit', metric: 'last', operator: 'older_than_days', value: 1 }
    const lapsed = await insertSegment(stack.sql, shop.businessId, rule)
    const [ann] = await does('visit', ANN)
    const [{ due_at: enters }] = await stack.sql<[{ due_at: number }]>`select due_at from segment_clock`
    await publish(lapsed, { at: enters })
    engine.clock.now = enters
    expect(await step()).toBe(false)
    await settleUntil(enters)
    await enrolAll(enters + 250)
    expect(await entered()).toEqual([ann])
  })

  it('waits a minute at most for what time changes', async () => {
    const club = await insertClub()
    await does('joined', ANN)
    await publish(club, { at })
    await stack.sql`
      insert into segment_clock (business_id, contact_id, due_at) values (${shop.businessId}, gen_random_uuid(), ${at})`
    engine.clock.now = at + MINUTE - 1
    expect(await step()).toBe(false)
    engine.clock.now = at + MINUTE + 250
    expect(await step()).toBe(true)
    await enrolAll()
    expect(await entered()).toHaveLength(1)
  })

  it('lists the members of an instant that comes during a pause, and enrols them after it', async () => {
    const club = await insertClub()
    const [ann] = await does('joined', ANN)
    const id = await publish(club, { at })
    await change(id, 'pause')
    await enrolAll(at)
    await does('joined', BOB)
    expect(await progress(id)).toMatchObject({ at: iso(at), members: 1, enrolled: 0 })
    await enrolAll(at + HOUR)
    expect(await entered()).toEqual([])
    await change(id, 'resume')
    await enrolAll()
    expect(await entered()).toEqual([ann])
  })

  it('never comes once the campaign is archived', async () => {
    const club = await insertClub()
    await does('joined', ANN)
    const id = await publish(club, { at })
    await change(id, 'archive')
    await enrolAll(at)
    expect(await progress(id)).toMatchObject({ members: null, doneAt: null })
    expect(await entered()).toEqual([])
  })

  it('waits while the business is inactive, and holds no other up', async () => {
    const club = await insertClub()
    await does('joined', ANN)
    await publish(club, { at })
    await stack.sql`update businesses set active = false where id = ${shop.businessId}`
    const { businessId } = await createBusiness(stack.sql)
    const other = openShop(stack, engine, pipeline, businessId)
    const { segmentId } = await insertSegment(stack.sql, businessId, happened('joined'))
    await pipeline.apply(other.live('joined'))
    engine.clock.now = at + 1
    await other.publish(WAIT, { trigger: { segment: segmentId, on: 'members' } })
    await enrolAll()
    expect(await entered()).toEqual([])
    expect(await other.enrolments()).toEqual(['active'])
    await stack.sql`update businesses set active = true where id = ${shop.businessId}`
    await enrolAll()
    expect(await entered()).toHaveLength(1)
  })
})

describe('a member', () => {
  const PHONE = { phone: '972500000001' }

  it('that was merged is enrolled as its survivor, once', async () => {
    const club = await insertClub()
    const [ann] = await does('joined', ANN, PHONE)
    const id = await publish(club)
    await does('seen', { ...ANN, ...PHONE })
    await enrolAll()
    expect(await entered()).toEqual([ann])
    expect(await progress(id)).toMatchObject({ members: 2, enrolled: 1 })
  })

  it('that was merged with one that was enrolled before is not enrolled again', async () => {
    const club = await insertClub()
    const [ann, phone] = await does('joined', ANN, PHONE)
    const id = await publish(club)
    const second = await stack.sql`
      with rest as (
        update broadcast_sets set contact_ids = array[${ann!}::uuid] where campaign_id = ${id} returning *
      )
      insert into broadcast_sets select business_id, campaign_id, 1, array[${phone!}::uuid] from rest`
    expect(second.count).toBe(1)
    await step()
    expect(await entered()).toEqual([ann])
    await stack.sql`update enrolments set state = 'stopped' where campaign_id = ${id}`
    await does('seen', { ...ANN, ...PHONE })
    await enrolAll()
    expect(await entered()).toEqual([ann])
    expect(await progress(id)).toMatchObject({ members: 2, enrolled: 1, doneAt: iso(NOW) })
  })

  it('that is merged while its set is being locked comes again, as its survivor', async () => {
    const club = await insertClub()
    const [cat] = await does('seen', CAT)
    const [ann] = await does('joined', ANN)
    await does('joined', PHONE)
    const id = await publish(club)
    const [merged, locked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const save = stack.sql.begin(async (tx) => {
      await tx`select from contacts where business_id = ${shop.businessId} and id = ${ann!} for update`
      locked.resolve()
      await merged.promise
    })
    await locked.promise
    const set = step()
    await vi.waitUntil(() => isWaiting(stack.sql, 'for no key update'), { timeout: PATIENCE_MS })
    await does('seen', { ...CAT, ...PHONE })
    merged.resolve()
    await Promise.all([save, set])
    expect(await entered()).toEqual([ann])
    expect(await progress(id)).toMatchObject({ members: 2, enrolled: 1, doneAt: null })
    await enrolAll()
    expect(await entered()).toEqual(sorted(cat, ann))
    expect(await progress(id)).toMatchObject({ members: 2, enrolled: 2, doneAt: iso(NOW) })
  })

  it('that was erased is not enrolled', async () => {
    const club = await insertClub()
    const [ann, bob] = await does('joined', ANN, BOB)
    const id = await publish(club)
    await pipeline.apply({ kind: 'erase', businessId: shop.businessId, receivedAt: NOW, contactId: ann! })
    await enrolAll()
    expect(await entered()).toEqual([bob])
    expect(await progress(id)).toMatchObject({ members: 2, enrolled: 1, doneAt: iso(NOW) })
  })

  it(`with ${MAX_ENROLMENTS} enrolments is not enrolled, and with one less is`, async () => {
    const club = await insertClub()
    const [ann, bob] = await does('joined', ANN, BOB)
    await publish(club)
    for (const [contact, many] of [
      [ann!, MAX_ENROLMENTS],
      [bob!, MAX_ENROLMENTS - 1],
    ] as const)
      await stack.sql`
        insert into enrolments (business_id, id, campaign_id, contact_id, state, enrolled_at, received_at)
        select ${shop.businessId}, gen_random_uuid(), gen_random_uuid(), ${contact}, 'finished', 0, 0
        from generate_series(1, ${many}::integer)`
    await enrolAll()
    const active = await stack.sql`
      select contact_id from enrolments where business_id = ${shop.businessId} and state = 'active'`
    expect([...active]).toEqual([{ contact_id: bob }])
  })
})

it('two broadcasts enrol the same contacts, each once', async () => {
  const club = await insertClub()
  const [ann] = await does('joined', ANN)
  for (const _ of [1, 2]) await publish(club)
  await enrolAll()
  expect(await entered()).toEqual([ann, ann])
})

it('enrols exactly those whose membership was answered before the publish, whatever comes and goes beside it', async () => {
  const club = await insertClub()
  const others = await openPipeline(stack.sql)
  const people = (name: string) => Array.from({ length: 60 }, (_, n) => ({ email: `${name}${n}@x.io` }))
  const [stay, leave, enter] = [people('stay'), people('leave'), people('enter')]
  const members = await does('joined', ...stay, ...leave)
  await does('seen', ...enter, ...people('never'))
  let phase: 'before' | 'during' | 'after' = 'before'
  const halfWay = Promise.withResolvers<void>()
  /**
   * Sends an event of each person in turn. Returns the contacts answered before the publish began, during it, and those
   * whose event was sent after it.
   */
  async function go(pipe: Pipeline, event: string, group: object[]) {
    const seen = { before: [] as string[], during: [] as string[], after: [] as string[] }
    for (const [nth, identity] of group.entries()) {
      if (nth === group.length / 2) halfWay.resolve()
      const sent = phase
      const [answer] = (await pipe.apply(shop.live(event, identity, NOW))) as [TrackAnswer]
      seen[sent === phase ? sent : 'during'].push(answer.contactId)
    }
    return seen
  }
  const going = Promise.all([go(pipeline, 'gone', leave), go(others, 'joined', enter)])
  await halfWay.promise
  phase = 'during'
  const id = await publish(club)
  phase = 'after'
  await enrolAll()
  const [left, joined] = await going
  await enrolAll()
  const enrolled = new Set(await entered())
  const [included, excluded] = [
    [...members.slice(0, stay.length), ...left.after, ...joined.before],
    [...left.before, ...joined.after],
  ]
  expect(included.filter((one) => !enrolled.has(one))).toEqual([])
  expect(excluded.filter((one) => enrolled.has(one))).toEqual([])
  expect(left.after.length * joined.after.length).toBeGreaterThan(0)
  expect(await progress(id)).toMatchObject({ members: enrolled.size, enrolled: enrolled.size })
})
