/**
 * The contacts that ClickHouse nominates for a pass: all that have to be looked at, whatever data about them ClickHouse
 * has, and whatever happens in the meantime.
 */
import * as fc from 'fast-check'
import { pino } from 'pino'
import { uuidv7 } from 'uuidv7'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Rule } from '../../src/rules/segments/rule.ts'
import { buildMembers, findBuilds } from '../../src/segments/build-members.ts'
import { logSwitched } from '../../src/segments/log-switched.ts'
import { incompleteSql } from '../../src/segments/nominate-contacts.ts'
import { type Nominations, createNominations } from '../../src/segments/nominations.ts'
import { removeRetired } from '../../src/segments/remove-retired.ts'
import type { WindowDeps } from '../../src/segments/segment-deps.ts'
import { settleDue } from '../../src/segments/settle-due.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { NOW, type Pipeline, eventFact, openPipeline, track } from '../support/facts.ts'
import { RUNS_ALL, runs } from '../support/runs.ts'
import { createBusiness } from '../support/stack.ts'
import { dropDeadLetters } from '../../src/timeline/resync/drop-dead-letters.ts'
import { shipResent } from '../../src/timeline/shipping/ship-outbox.ts'
import { type Lab, eraseAll, openLab, shipAll } from '../timeline/lab.ts'
import { findFaults, readSnapshot } from './model/check-memberships.ts'
import { type World, beginLife, buildAll, live, openWorld, settle } from './model/live.ts'
import { life } from './model/steps.ts'
import { type TestSegment, changesOf, insertSegment, membersOf, sizeOf } from './segments-support.ts'

const DAY = 86_400_000
const never = new AbortController().signal
let lab: Lab
let deps: WindowDeps
let pipeline: Pipeline
let businessId: string
let clock = NOW
const depsOf = (now: () => number): WindowDeps => ({
  sql: lab.sql,
  clickhouse: lab.clickhouse,
  log: pino({ level: 'silent' }),
  config: { leaseMs: 3000 },
  configs: new Map(),
  now,
})
beforeAll(async () => {
  lab = await openLab()
  deps = depsOf(() => clock)
  pipeline = await openPipeline(lab.sql)
})
afterAll(() => lab.close())
beforeEach(async () => {
  clock = NOW
  ;({ businessId } = await createBusiness(lab.sql))
})

const EVERY_BUSINESS = { minContacts: 0, mostShare: 1, pieceSize: 50 }
const email = (n: number) => ({ email: `p${n}@x.io` })
const visit = (n: number, at = NOW) => track(businessId, eventFact('visit', email(n), { occurredAt: at }))
const tagged = (n: number) => track(businessId, eventFact('seen', email(n), { tags: ['vip'] }))
const VIP: Rule = { tag: 'vip', operator: 'has' }
const numbers = (length: number) => Array.from({ length }, (_, n) => n)

/** Records the contacts that are looked at. */
function watched(nominations: Nominations): Nominations & { seen: string[]; walks: number } {
  const noted = {
    ...nominations,
    seen: [] as string[],
    walks: 0,
    next(...args: Parameters<Nominations['next']>) {
      const found = nominations.next(...args)
      if (found === 'walk') noted.walks += 1
      else if (found !== 'later') noted.seen.push(...found)
      return found
    },
  }
  return noted
}

/** Records the queries that ClickHouse is sent. It answers after `until`. */
function counting(until = Promise.resolve()): { of: WindowDeps; asked: string[] } {
  const asked: string[] = []
  const clickhouse = new Proxy(lab.clickhouse, {
    get: (target, name) => {
      if (name !== 'query') return Reflect.get(target, name) as unknown
      return async (params: Parameters<typeof target.query>[0]) => {
        asked.push(params.query)
        await until
        return await target.query(params)
      }
    },
  })
  return { of: { ...deps, clickhouse }, asked }
}

async function define(rule: Rule, segmentId?: string): Promise<TestSegment> {
  if (segmentId !== undefined)
    await lab.sql`
      update segment_rules set state = 'retired' where segment_id = ${segmentId} and state = 'building'`
  const segment = await insertSegment(lab.sql, businessId, rule, 'building', segmentId)
  const [{ total }] = await lab.sql<[{ total: number }]>`
    select count(*) as total from contacts where business_id = ${businessId}`
  await lab.sql`
    insert into segment_builds as b (business_id, total) values (${businessId}, ${total})
    on conflict (business_id) do update set epoch = b.epoch + 1, cursor = null, done = 0, total = excluded.total`
  return segment
}

async function buildWith(nominations: Nominations, of = deps): Promise<void> {
  for (let busy = true; busy;)
    busy = [await buildMembers(of, never, nominations), await logSwitched(of), await removeRetired(of)].includes(true)
}
const members = async (segment: TestSegment) =>
  (await membersOf(lab.sql, businessId, segment)).map(({ contactId }) => contactId).toSorted()
const idsOf = async (...people: number[]) =>
  (await pipeline.apply(...people.map((n) => track(businessId, eventFact('seen', email(n)))))).flatMap((answer) =>
    'contactId' in answer && answer.contactId ? [answer.contactId] : [],
  )

describe('a pass', () => {
  it('looks at those alone of whom the rule may be true, and ends with the same members', async () => {
    await pipeline.apply(...numbers(60).map((n) => visit(n)), ...[3, 30, 59].map(tagged))
    await shipAll(lab)
    const segment = await define(VIP)
    const nominations = watched(createNominations(deps, never, { ...EVERY_BUSINESS, pieceSize: 2 }))
    await buildWith(nominations)
    expect([nominations.seen.length, nominations.walks]).toEqual([3, 0])
    expect(await members(segment)).toEqual((await idsOf(3, 30, 59)).toSorted())
    expect(await sizeOf(lab.sql, businessId, segment)).toBe(3)
    expect(await changesOf(lab.sql, businessId, segment)).toHaveLength(3)
  })

  it('asks ClickHouse once for few, and counts more than a piece of them', async () => {
    await pipeline.apply(...numbers(20).map((n) => visit(n)), ...[1, 2, 3].map(tagged))
    await shipAll(lab)
    const askedFor = async (pieceSize: number) => {
      await define(VIP)
      const { of, asked } = counting()
      await buildWith(createNominations(of, never, { ...EVERY_BUSINESS, pieceSize }), of)
      return asked.filter((text) => text.includes('vip')).length
    }
    expect(await askedFor(4)).toBe(1)
    // A full piece, the count of all, and an empty piece.
    expect(await askedFor(3)).toBe(3)
  })

  it('shows its progress as a share of those', async () => {
    await pipeline.apply(...numbers(60).map((n) => visit(n)), ...[3, 30].map(tagged))
    await shipAll(lab)
    await define(VIP)
    const nominations = createNominations(deps, never, EVERY_BUSINESS)
    const progress = async () => await lab.sql`select done, total from segment_builds where business_id = ${businessId}`
    while ((await progress())[0]?.['done'] === 0) await buildMembers(deps, never, nominations)
    expect(await progress()).toEqual([{ done: 2, total: 2 }])
    await buildWith(nominations)
  })

  it('wakes those later of whom the rule is true by time alone', async () => {
    await pipeline.apply(visit(1, NOW - DAY), visit(2, NOW - 40 * DAY))
    await shipAll(lab)
    const old = await define({ event: 'visit', metric: 'last', operator: 'older_than_days', value: 2 })
    const none = await define({ event: 'visit', metric: 'last', operator: 'within_days', value: 0.5 })
    await buildWith(createNominations(deps, never, EVERY_BUSINESS))
    expect(await members(old)).toHaveLength(1)
    expect(await members(none)).toEqual([])
    clock = NOW + 2 * DAY
    while ((await settleDue(deps)) === 'more') continue
    expect(await members(old)).toHaveLength(2)
  })

  it('adds everybody of whom a row of the outbox is not shipped', async () => {
    await pipeline.apply(...numbers(20).map((n) => visit(n)))
    await shipAll(lab)
    await pipeline.apply(...[1, 2].map(tagged))
    const segment = await define(VIP)
    const nominations = watched(createNominations(deps, never, EVERY_BUSINESS))
    await buildWith(nominations)
    expect([nominations.seen.length, nominations.walks]).toEqual([2, 0])
    expect(await members(segment)).toHaveLength(2)
  })

  it('finds who did what ClickHouse could not read, when that was dropped', async () => {
    await pipeline.apply(...numbers(20).map((n) => visit(n)), track(businessId, eventFact('rare', email(4))))
    await lab.sql`update outbox set events = replace(events, '"rare"', '"\\ud800"') where shipped_at is null`
    await shipAll(lab)
    const letters = await lab.sql<{ id: string }[]>`
      select id from dead_letters where business_id = ${businessId} and kind = 'timeline'`
    expect(letters).toHaveLength(1)
    const actor = { kind: 'command', id: 'ann', name: 'test' } as const
    await dropDeadLetters(lab.sql, { businessId, actor, target: null }, [letters[0]!.id])
    while (await shipResent(lab, lab.lease)) continue
    // Contacts of recently shipped rows are always looked at.
    await lab.sql`update outbox set shipped_at = shipped_at - interval '1 minute'`
    const segment = await define({ event: 'rare', metric: 'count', operator: 'greater_than', value: 0 })
    const nominations = watched(createNominations(deps, never, EVERY_BUSINESS))
    await buildWith(nominations)
    expect([nominations.seen.length, nominations.walks]).toEqual([1, 0])
    expect(await members(segment)).toEqual(await idsOf(4))
  })

  it('gives way to all others while ClickHouse is asked', async () => {
    for (const _ of numbers(3)) {
      ;({ businessId } = await createBusiness(lab.sql))
      await define(VIP)
    }
    const answering = Promise.withResolvers<void>()
    const { of } = counting(answering.promise)
    const nominations = createNominations(of, never, EVERY_BUSINESS)
    const turns = new Set<string>()
    const noted: Nominations = {
      ...nominations,
      next: (build, most) => (turns.add(build.business_id), nominations.next(build, most)),
    }
    const from = performance.now()
    await buildMembers(of, never, noted)
    expect(turns.size).toBe(3)
    // There is no busy loop.
    expect(performance.now() - from).toBeGreaterThan(200)
    answering.resolve()
    await buildWith(nominations, of)
  })

  it('is forgotten when it has ended, or is abandoned', async () => {
    await pipeline.apply(...numbers(20).map((n) => visit(n)), ...[1, 2].map(tagged))
    await shipAll(lab)
    await define(VIP)
    const nominations = createNominations(deps, never, EVERY_BUSINESS)
    const [found] = await findBuilds(deps)
    const { build } = found!
    const answer = async () => {
      while (nominations.next(build, 10) === 'later') await nominations.wait(50)
      return nominations.next(build, 10)
    }
    expect(await answer()).toHaveLength(2)
    nominations.keepOnly([businessId])
    expect(nominations.next(build, 10)).toHaveLength(2)
    nominations.keepOnly([])
    expect(nominations.next(build, 10)).toBe('later')
    expect(await answer()).toHaveLength(2)
    await lab.sql`delete from segment_builds where business_id = ${businessId}`
    await buildMembers(deps, never, nominations)
    expect(nominations.next(build, 10)).toBe('later')
    await answer()
  })

  it('leaves out who was erased meanwhile', async () => {
    await pipeline.apply(...numbers(20).map((n) => visit(n)), ...[1, 2].map(tagged))
    await shipAll(lab)
    const [first, second] = await idsOf(1, 2)
    const segment = await define(VIP)
    const nominations = createNominations(deps, never, EVERY_BUSINESS)
    const [build] = await findBuilds({ ...deps })
    // Wait for ClickHouse's answer before the erasure.
    while (nominations.next(build!.build, 10) === 'later') await nominations.wait(50)
    await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId: first! })
    await buildWith(nominations)
    expect(await members(segment)).toEqual([second])
    expect(await sizeOf(lab.sql, businessId, segment)).toBe(1)
  })

  it('that is edited again ends in the last definition', async () => {
    await pipeline.apply(...numbers(20).map((n) => visit(n)), ...[1, 2, 3].map(tagged))
    await shipAll(lab)
    const first = await define(VIP)
    const nominations = createNominations(deps, never, { ...EVERY_BUSINESS, pieceSize: 1 })
    await buildMembers(deps, never, nominations)
    const last = await define(
      { all: [VIP, { event: 'visit', metric: 'count', operator: 'greater_than', value: 1 }] },
      first.segmentId,
    )
    await pipeline.apply(visit(2))
    await buildWith(nominations)
    expect(await members(last)).toEqual(await idsOf(2))
    expect(await members(first)).toEqual([])
  })

  it('goes on where it was, and asks again, in another process', async () => {
    await pipeline.apply(...numbers(20).map((n) => visit(n)), ...[1, 2, 3, 4].map(tagged))
    await shipAll(lab)
    const segment = await define(VIP)
    const done = async () =>
      (await lab.sql<{ done: number }[]>`select done from segment_builds where business_id = ${businessId}`)[0]?.done
    const before = createNominations(deps, never, { ...EVERY_BUSINESS, pieceSize: 1 })
    while ((await done()) === 0) await buildMembers(deps, never, before)
    const after = watched(createNominations(deps, never, EVERY_BUSINESS))
    await buildWith(after)
    expect(after.walks).toBe(0)
    expect(after.seen.length).toBeLessThan(4)
    expect(await members(segment)).toHaveLength(4)
  })
})

describe('all contacts are looked at', () => {
  const walksOf = async (options = EVERY_BUSINESS, of = deps) => {
    const segment = await define(VIP)
    const nominations = watched(createNominations(of, never, options))
    await buildWith(nominations, of)
    expect(await members(segment)).toHaveLength(2)
    return nominations.walks
  }
  beforeEach(async () => {
    await pipeline.apply(...numbers(6).map((n) => visit(n)), ...[1, 2].map(tagged))
    await shipAll(lab)
  })

  it('when the business is small, and ClickHouse is not asked', async () => {
    const { of, asked } = counting()
    expect(await walksOf({ ...EVERY_BUSINESS, minContacts: 7 }, of)).toBe(2)
    expect(asked).toEqual([])
    expect(await walksOf({ ...EVERY_BUSINESS, minContacts: 6 }, of)).toBe(0)
    expect(asked).not.toEqual([])
  })

  it('when the rule nominates many', async () => {
    expect(await walksOf({ ...EVERY_BUSINESS, mostShare: 0.3 })).toBeGreaterThan(0)
    expect(await walksOf({ ...EVERY_BUSINESS, mostShare: 0.34 })).toBe(0)
  })

  it('when many are on their way to ClickHouse', async () => {
    await pipeline.apply(...[3, 4, 5].map((n) => visit(n)))
    expect(await walksOf({ ...EVERY_BUSINESS, pieceSize: 2 })).toBeGreaterThan(0)
    expect(await walksOf({ ...EVERY_BUSINESS, pieceSize: 3 })).toBe(0)
  })

  it('while ClickHouse is being corrected', async () => {
    await lab.sql`insert into outbox (events, event_count, business_ids, contact_ids, changed, resend) values ('', 0, '{}', '{}', '{}', '{}')`
    expect(await walksOf()).toBeGreaterThan(0)
    await lab.sql`delete from outbox where resend is not null`
    expect(await walksOf()).toBe(0)
  })

  it('while it is being corrected by a group that is under way, of which it learns without reading all that waits', async () => {
    await lab.sql`
      insert into outbox (events, event_count, business_ids, contact_ids, changed)
      select '', 0, '{}', '{}', '{}' from generate_series(1, 10000)`
    await lab.sql`
      insert into outbox (events, event_count, business_ids, contact_ids, changed, resend, group_id)
      values ('', 0, '{}', '{}', '{}', '{}', gen_random_uuid())`
    await lab.sql`analyze outbox`
    expect(await walksOf()).toBeGreaterThan(0)
    const plan = await lab.sql<{ 'QUERY PLAN': string }[]>`explain select ${incompleteSql(lab, businessId)}`
    const text = plan.map((line) => line['QUERY PLAN']).join('\n')
    expect(text).toMatch(/outbox_to_resend[^]*outbox_under_way/)
    expect(text).not.toMatch(/Seq Scan on outbox|outbox_to_ship/)
    await lab.sql`delete from outbox where cardinality(contact_ids) = 0`
  })

  it('while an event waits that ClickHouse could not read', async () => {
    await lab.sql`
      insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
      values (${uuidv7()}, ${businessId}, 'timeline', '0', 'timeline', 'unreadable', '{}')`
    expect(await walksOf()).toBeGreaterThan(0)
  })

  it('when ClickHouse has lost contacts', async () => {
    await lab.clickhouse.command({
      query: `delete from contact_snapshots where business_id = '${businessId}' settings lightweight_deletes_sync = 2`,
    })
    expect(await walksOf()).toBeGreaterThan(0)
  })

  it('while ClickHouse is away', async () => {
    const clickhouse = connectClickHouse('http://u:p@127.0.0.1:1/none')
    expect(await walksOf(EVERY_BUSINESS, { ...deps, clickhouse })).toBeGreaterThan(0)
    await clickhouse.close()
  })

  it('from where it was, when ClickHouse ends in the midst', async () => {
    await pipeline.apply(...[3, 4, 5].map(tagged))
    await shipAll(lab)
    const segment = await define(VIP)
    const clickhouse = connectClickHouse(lab.clickhouseUrl)
    const of = { ...deps, clickhouse }
    const nominations = watched(createNominations(of, never, { ...EVERY_BUSINESS, pieceSize: 1 }))
    while (nominations.seen.length < 2) await buildMembers(of, never, nominations)
    await clickhouse.close()
    Object.assign(of, { clickhouse: connectClickHouse('http://u:p@127.0.0.1:1/none') })
    await buildWith(nominations, of)
    expect(nominations.walks).toBeGreaterThan(0)
    expect(await members(segment)).toHaveLength(5)
    await of.clickhouse.close()
  })
})

it(
  'whatever happens while it is built, members, history, sizes and clocks are exact',
  { timeout: 3_600_000 },
  async () => {
    const world: World = await openWorld(lab.sql)
    let nominated = 0
    await fc.assert(
      fc.asyncProperty(life, fc.infiniteStream(fc.nat({ max: 5 })), async ({ rules, pageIdentify, steps }, chances) => {
        const [{ since }] = await lab.sql<[{ since: number }]>`select coalesce(max(id), 0)::int as since from outbox`
        await beginLife(world, rules, pageIdentify)
        const worker = { ...depsOf(() => world.clock), configs: world.worker.configs }
        const nominations = watched(createNominations(worker, never, { ...EVERY_BUSINESS, pieceSize: 2 }))
        world.nominations = nominations
        const expectExact = async (when: string) => {
          for (const id of world.businesses)
            expect(findFaults(await readSnapshot(lab.sql, id, since), world.clock), when).toEqual([])
        }
        for (const [n, step] of steps.entries()) {
          const chance: unknown = chances.next().value
          if (chance === 0) await shipAll(lab)
          // Rows may be shipped while ClickHouse is being queried.
          await (chance === 1 ? Promise.all([live(world, step), shipAll(lab)]) : live(world, step))
          if (chance === 2) await eraseAll(lab)
          await expectExact(`step ${n}, ${step.kind}`)
        }
        await buildAll(world)
        await settle(world)
        await expectExact('the end')
        nominated += nominations.seen.length
      }),
      { numRuns: runs(20) },
    )
    // With only a few runs, there may be none.
    if (RUNS_ALL) expect(nominated).toBeGreaterThan(0)
  },
)
