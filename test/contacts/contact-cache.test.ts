/** The cache changes only the cost: whatever was decided from a stale contact is decided again. */
import * as fc from 'fast-check'
import { uuidv7 } from 'uuidv7'
import { beforeAll, describe, expect, it } from 'vitest'
import { type ContactCache, createContactCache, createContactCaches } from '../../src/contacts/load/contact-cache.ts'
import { emptyChanges } from '../../src/rules/changes.ts'
import { emptyDelta } from '../../src/rules/contact-delta.ts'
import type { Identity } from '../../src/rules/events/facts.ts'
import { type ContactState, type State, emptyState } from '../../src/rules/state.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import type { ContactAnswer, TrackAnswer } from '../../src/stream/entry.ts'
import {
  type RequestContext,
  NOW,
  type Pipeline,
  batch,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
import { readPeople } from '../support/read-people.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { runs } from '../support/runs.ts'
import { useOpened } from '../support/use-opened.ts'

describe('what it holds', () => {
  const state = (configVersion = 1): State => {
    const made = emptyState()
    made.businesses.set('b', {
      id: 'b',
      configVersion,
      active: true,
      fields: new Map(),
      campaigns: [],
      awaited: new Set(),
      hasConditions: false,
      awaitedConditions: new Map(),
      isKeyed: false,
      isEnrolling: false,
      destinations: [],
      pageIdentify: 'open',
      topics: new Map(),
      segmentRules: [],
      segments: null,
    })
    return made
  }
  const contact = (id: string): ContactState => ({
    id,
    businessId: 'b',
    createdAt: 1,
    version: null,
    keyed: true,
    stage: 0,
    identities: [{ kind: 'email', value: id, proven: true }],
    profile: {},
    pageFilled: 0,
    enrolments: [],
    goalLastAt: new Map(),
    pastOfKeys: new Map(),
    subscriptions: {},
    topics: {},
    tags: 0,
    cleared: null,
    browsers: { listed: 0, waiting: 0 },
    mergedIds: [],
    facts: null,
  })
  const checkout = (cache: ContactCache, to: State, id: string) =>
    cache.checkout(to, { business_id: 'b', kind: 'email', value: id })
  const keeping = (most: number, ...ids: string[]) =>
    keptBy(
      createContactCache(() => most),
      ids,
    )
  const keptBy = (cache: ContactCache, ids: string[]) => {
    for (const id of [...ids, ...ids]) {
      const made = state()
      made.contacts.set(id, contact(id))
      cache.commit(made, emptyChanges())
    }
    return cache
  }
  const lends = (cache: ContactCache, id: string) => checkout(cache, state(), id)

  it('is what was saved, under the version that the save left', () => {
    const next = state()
    expect(checkout(keeping(9, 'ann'), next, 'ann')).toBe(true)
    expect(next.contacts.get('ann')?.version).toBe(1)
    expect(next.owners.email.get('b', 'ann')).toBe('ann')
  })

  const strangers = (many: number) => {
    const made = state()
    const ids = Array.from({ length: many }, (_, n) => `person ${n}`)
    for (const id of ids) made.contacts.set(id, contact(id))
    return { made, ids }
  }

  it.each([
    [8, true],
    [9, false],
  ])('with %i contacts seen once, together, keeps any when half of the room is taken: %s', (many, kept) => {
    const cache = keeping(30, ...Array.from({ length: 8 }, (_, n) => `familiar ${n}`))
    const { made, ids } = strangers(many)
    cache.commit(made, emptyChanges())
    expect(ids.map((id) => lends(cache, id))).toEqual(ids.map(() => kept))
  })

  it('is those who came first, however many come together, until half of the room is taken', () => {
    const cache = createContactCache(() => 12)
    const { made, ids } = strangers(9)
    cache.commit(made, emptyChanges())
    expect(ids.filter((id) => lends(cache, id))).toEqual(ids.slice(0, 3))
  })

  it('is not lent again until a save brings it back', () => {
    const cache = keeping(9, 'ann')
    const failed = state()
    checkout(cache, failed, 'ann')
    expect(lends(cache, 'ann')).toBe(false)
    expect(lends(cache, 'ann')).toBe(false)
  })

  it('ends with the configuration that it was read under', () => {
    const cache = keeping(9, 'ann')
    expect(checkout(cache, state(2), 'ann')).toBe(false)
  })

  it('is limited by the size of the contacts, too', () => {
    const cache = keeping(5, 'ann', 'bob')
    const grown = state()
    checkout(cache, grown, 'bob')
    const bob = grown.contacts.get('bob')
    for (const value of ['bob2', 'bob3']) bob?.identities.push({ kind: 'email', value, proven: true })
    const changes = emptyChanges()
    changes.deltas.set('bob', { ...emptyDelta(), raisesVersion: true })
    cache.commit(grown, changes)
    expect(lends(cache, 'ann')).toBe(false)
    expect(lends(cache, 'bob3')).toBe(true)
  })

  it('is limited: the oldest is dropped, unless it was used', () => {
    const cache = keeping(4, 'ann', 'bob')
    const used = state()
    checkout(cache, used, 'ann')
    used.contacts.set('cem', contact('cem'))
    cache.commit(used, emptyChanges())
    const again = state()
    again.contacts.set('cem', contact('cem'))
    cache.commit(again, emptyChanges())
    expect(['ann', 'bob', 'cem'].map((id) => lends(cache, id))).toEqual([true, false, true])
  })

  it('knows what a decision changed without raising the version', () => {
    const cache = keeping(9, 'ann')
    const decided = state()
    checkout(cache, decided, 'ann')
    const ann = decided.contacts.get('ann')
    if (ann) ann.profile.firstName = 'Ann'
    ann?.goalLastAt.set('goal', 7)
    if (ann) ann.subscriptions.email = { subscribed: true, at: 7 }
    cache.commit(decided, emptyChanges())
    const next = state()
    checkout(cache, next, 'ann')
    expect(next.contacts.get('ann')).toMatchObject({
      profile: { firstName: 'Ann' },
      goalLastAt: new Map([['goal', 7]]),
      subscriptions: { email: { subscribed: true, at: 7 } },
    })
  })

  it('is what was read afresh after an attempt that failed, whatever that one had decided', () => {
    const cache = keeping(9, 'ann')
    const failed = state()
    checkout(cache, failed, 'ann')
    const decided = failed.contacts.get('ann')
    if (decided) decided.profile.firstName = 'Wrong'
    decided?.identities.push({ kind: 'phone', value: '1', proven: true })
    const read = state()
    read.contacts.set('ann', { ...contact('ann'), version: 4 })
    cache.commit(read, emptyChanges())
    const next = state()
    checkout(cache, next, 'ann')
    expect(next.contacts.get('ann')).toEqual({ ...contact('ann'), version: 4 })
  })

  it('is found by the identities that it has now', () => {
    const cache = keeping(9, 'ann')
    const change = (from: string, ...values: string[]) => {
      const decided = state()
      expect(checkout(cache, decided, from)).toBe(true)
      const ann = decided.contacts.get('ann')
      if (ann) ann.identities = values.map((value) => ({ kind: 'email', value, proven: true }))
      const changes = emptyChanges()
      changes.deltas.set('ann', { ...emptyDelta(), raisesVersion: true })
      cache.commit(decided, changes)
    }
    const foundBy = () =>
      ['ann', 'anna', 'annie'].filter((value) => {
        const next = state()
        const found = checkout(cache, next, value)
        if (found) cache.commit(next, emptyChanges())
        return found
      })
    change('ann', 'ann', 'anna', 'annie')
    expect(foundBy()).toEqual(['ann', 'anna', 'annie'])
    change('anna', 'ann', 'annie')
    expect(foundBy()).toEqual(['ann', 'annie'])
    change('ann', 'anna')
    expect(foundBy()).toEqual(['anna'])
    change('anna')
    expect(foundBy()).toEqual([])
  })

  it('is limited as before when a contact was dropped while lent', () => {
    let most = 4
    const cache = keptBy(
      createContactCache(() => most),
      ['ann'],
    )
    const decided = state()
    checkout(cache, decided, 'ann')
    most = 0
    cache.shrink()
    most = 4
    const changes = emptyChanges()
    changes.deltas.set('ann', { ...emptyDelta(), raisesVersion: true })
    cache.commit(decided, changes)
    keptBy(cache, ['bob', 'cem', 'dan'])
    expect(['ann', 'bob', 'cem', 'dan'].filter((id) => lends(cache, id))).toHaveLength(2)
  })

  it('takes keys for new, except for 64 micro-batches after one that was known', () => {
    const cache = createContactCache(() => 99)
    expect(cache.assumesKeysNew()).toBe(true)
    cache.noteRepeatedKey()
    expect(Array.from({ length: 65 }, () => cache.assumesKeysNew())).toEqual([
      ...Array.from({ length: 64 }, () => false),
      true,
    ])
  })

  it('is separate for each partition and each epoch', () => {
    const cacheOf = createContactCaches()
    const first = cacheOf('live-0', 1)
    expect(cacheOf('live-0', 1)).toBe(first)
    expect(cacheOf('live-1', 1)).not.toBe(first)
    expect(cacheOf('live-0', 2)).not.toBe(first)
    expect(cacheOf('live-0', 1)).not.toBe(first)
  })

  it('is all that fits while its partition is alone, and gives up half when a second one comes', () => {
    const ids = ['ann', 'bob', 'cem', 'dan', 'eve']
    const keptBeside = (...others: string[]) => {
      const cacheOf = createContactCaches(8)
      const cache = keptBy(cacheOf('live-0', 1), ids)
      for (const other of others) cacheOf(other, 1)
      return ids.filter((id) => lends(cache, id)).length
    }
    expect(keptBeside()).toBe(4)
    expect(keptBeside('live-1')).toBe(2)
  })

  it('is as much as before once the other partition was not asked for in ten minutes', () => {
    let at = 0
    const cacheOf = createContactCaches(8, () => at)
    const [cache, other] = [cacheOf('live-0', 1), cacheOf('live-1', 1)]
    at = 600_000
    expect(cacheOf('live-0', 1)).toBe(cache)
    const ids = ['ann', 'bob', 'cem', 'dan', 'eve']
    expect(ids.filter((id) => lends(keptBy(cache, ids), id))).toHaveLength(2)
    at = 600_001
    expect(cacheOf('live-0', 1)).toBe(cache)
    expect(ids.filter((id) => lends(keptBy(cache, ids), id))).toHaveLength(4)
    expect(cacheOf('live-1', 1)).not.toBe(other)
  })
})

/** Reports each query before it is sent. */
function listening(sql: Sql, report: (query: string) => void): Sql {
  const wrapped = (strings: TemplateStringsArray, ...values: never[]) => {
    report(strings.join('?'))
    return sql(strings, ...values)
  }
  return wrapped as unknown as Sql
}

const stack = useOpened(openStack)
let pipelines: [Pipeline, Pipeline]
let uncached: Pipeline
beforeAll(async () => {
  pipelines = [await openPipeline(stack.sql), await openPipeline(stack.sql)]
  uncached = await openPipeline(stack.sql)
  delete uncached.deps.contactsOf
})

describe('two partitions with a cache each', () => {
  interface Step {
    at: 0 | 1
    kind: 'track' | 'batch' | 'identify' | 'unkeyed'
    fields: { person: number; kind: 'email' | 'phone' | 'platformCustomerId' }[]
    event: string
    key: string | null
  }
  const step: fc.Arbitrary<Step> = fc.record({
    at: fc.constantFrom(0 as const, 1 as const),
    kind: fc.constantFrom('track' as const, 'batch' as const, 'identify' as const, 'unkeyed' as const),
    fields: fc.array(
      fc.record({
        person: fc.nat(2),
        kind: fc.constantFrom('email' as const, 'phone' as const, 'platformCustomerId' as const),
      }),
      { minLength: 1, maxLength: 2 },
    ),
    event: fc.constantFrom('start', 'goal', 'checkout_started'),
    key: fc.constantFrom('k0', 'k1', 'k2', null),
  })
  const identityOf = ({ fields }: Step): Identity =>
    Object.fromEntries(
      fields.map(({ person, kind }) => [kind, kind === 'email' ? `${person}@x.io` : `97250000000${person}`]),
    )
  const callOf = (businessId: string, made: Step, n: number): RequestContext => {
    const fact = eventFact(made.event, identityOf(made), {
      occurredAt: NOW - n,
      value: 1,
      tags: [`t${n}`],
      idempotencyKey: made.key,
    })
    const profile = { firstName: `name ${n}` }
    if (made.kind === 'track') return track(businessId, fact)
    if (made.kind === 'batch') return batch(businessId, [fact])
    return identify(businessId, identifyFact(identityOf(made), { profile }), made.kind === 'identify')
  }
  const publish = async (businessId: string) => stack.sql`
    with campaign as (
      insert into campaigns (business_id, id, name, status, trigger_event, can_enter_again, goal_event, published_at)
      values (${businessId}, ${uuidv7()}, 'c', 'published', 'start', true, 'goal', now())
    )
    update businesses set config_version = config_version + 1 where id = ${businessId}`
  const withoutIds = (answers: unknown, ids: Map<string, number>): string =>
    JSON.stringify(answers).replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, (id) => {
      if (!ids.has(id)) ids.set(id, ids.size)
      return String(ids.get(id))
    })
  const statesOf = async (businessId: string) =>
    (
      await stack.sql<{ states: string }[]>`
        select string_agg(state, ' ' order by enrolled_at, received_at, state) as states from enrolments
        where business_id = ${businessId}`
    )[0]?.states

  /** Returns the answers and the final state. The campaign is published halfway. */
  async function run(steps: Step[], pipelineOf: (made: Step) => Pipeline) {
    const { businessId } = await createBusiness(stack.sql)
    const ids = new Map<string, number>()
    const answers: string[] = []
    for (const [n, made] of steps.entries()) {
      if (n === Math.floor(steps.length / 2)) await publish(businessId)
      answers.push(withoutIds(await pipelineOf(made).apply(callOf(businessId, made, n)), ids))
    }
    const people = await readPeople(stack.sql, businessId)
    return { answers, people, states: await statesOf(businessId) }
  }

  it('give the same answers and results as without caches', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 20 }), async (steps) => {
        expect(await run(steps, ({ at }) => pipelines[at])).toEqual(await run(steps, () => uncached))
      }),
      { numRuns: runs(40) },
    )
  })

  it('a person that is known here is not read again', async () => {
    const { businessId } = await createBusiness(stack.sql)
    const call = () => pipelines[0].track(track(businessId, eventFact('seen', { email: 'ann@x.io' })))
    await call()
    const { contactId } = (await call()) as ContactAnswer
    await stack.sql`update identities set contact_id = ${uuidv7()} where business_id = ${businessId}`
    expect(await call()).toMatchObject({ contactId, isNew: false })
  })

  describe.each([8, 9])('%i keys of a person who is known here', (many) => {
    const keyed = (businessId: string, key: string) =>
      track(businessId, eventFact('seen', { email: 'ann@x.io' }, { idempotencyKey: key }))
    const keys = Array.from({ length: many }, (_, n) => `k${n}`)
    const deduped = (answers: unknown[]) => answers.map((answer) => (answer as TrackAnswer).deduped)
    /** Opens a pipeline for a business of its own, and records its queries to Postgres. */
    const open = async () => {
      const { businessId } = await createBusiness(stack.sql)
      const asked: string[] = []
      const sql = listening(stack.sql, (query) => asked.push(query))
      const pipeline = await openPipeline(sql)
      await pipeline.track(keyed(businessId, 'first'))
      asked.length = 0
      const send = async (...sent: string[]) =>
        deduped(await pipeline.apply(...sent.map((key) => keyed(businessId, key))))
      return { businessId, send, loads: () => asked.filter((query) => query.includes('load_state')).length }
    }

    it('are not asked for before they are saved', async () => {
      const { send, loads } = await open()
      expect(await send(...keys)).toEqual(keys.map(() => false))
      expect(loads()).toBe(0)
    })

    it('are distinguished from those that another partition has recorded, and the next are asked for', async () => {
      const { businessId, send, loads } = await open()
      await pipelines[1].track(keyed(businessId, 'k3'))
      expect(await send(...keys)).toEqual(keys.map((key) => key === 'k3'))
      expect(loads()).toBe(1)
      expect(await send('next')).toEqual([false])
      expect(loads()).toBe(2)
      const [person] = await readPeople(stack.sql, businessId)
      expect(person?.events['seen']?.[2]).toBe(many + 2)
    })

    it('are all found when all are sent again, once or among new ones', async () => {
      const { businessId, send } = await open()
      await send(...keys)
      expect(await send(...keys)).toEqual(keys.map(() => true))
      expect(await send('new', ...keys)).toEqual([false, ...keys.map(() => true)])
      const [person] = await readPeople(stack.sql, businessId)
      expect(person?.events['seen']?.[2]).toBe(many + 2)
    })
  })

  it('a person whom another partition created meanwhile does not count as known', async () => {
    const { businessId } = await createBusiness(stack.sql)
    const keyed = (key: string) => track(businessId, eventFact('seen', { email: 'ann@x.io' }, { idempotencyKey: key }))
    const asked: string[] = []
    const listened = listening(stack.sql, (query) => asked.push(query))
    let isFirst = true
    const overtaken = async (strings: TemplateStringsArray, ...values: never[]) => {
      if (isFirst && strings.join('').includes('save_changes')) {
        isFirst = false
        await pipelines[1].track(keyed('theirs'))
      }
      return listened(strings, ...values)
    }
    const pipeline = await openPipeline(stack.sql)
    pipeline.deps.sql = overtaken as unknown as Sql
    expect(await pipeline.apply(...Array.from({ length: 9 }, (_, n) => keyed(`a${n}`)))).toHaveLength(9)
    // It was decided twice. The second time, the keys were read.
    expect(asked.filter((query) => query.includes('save_changes'))).toHaveLength(2)
    asked.length = 0
    await pipeline.apply(...Array.from({ length: 9 }, (_, n) => keyed(`b${n}`)))
    expect(asked.filter((query) => query.includes('load_state'))).toHaveLength(0)
  })

  it('a campaign that was published meanwhile knows what had happened before', async () => {
    const { businessId } = await createBusiness(stack.sql)
    const call = (event: string) => track(businessId, eventFact(event, { email: 'ann@x.io' }))
    await pipelines[0].track(call('goal'))
    await pipelines[0].track(call('goal'))
    await publish(businessId)
    await pipelines[0].track(call('start'))
    expect(await statesOf(businessId)).toBe('converted')
  })

  it('a contact that was erased elsewhere is created again', async () => {
    const { businessId } = await createBusiness(stack.sql)
    const call = () => track(businessId, eventFact('seen', { email: 'ann@x.io' }))
    await pipelines[0].track(call())
    const { contactId } = await pipelines[0].track(call())
    await pipelines[1].apply({ kind: 'erase', businessId, receivedAt: NOW, contactId: contactId ?? '' })
    expect(await pipelines[0].track(call())).toMatchObject({ isNew: true })
  })
})
