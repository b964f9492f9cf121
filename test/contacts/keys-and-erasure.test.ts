/** Idempotency keys, and the data that remains of an erased person. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { scrubOutbox } from '../../src/outbox/scrub-outbox.ts'
import type { ContactAnswer, TrackAnswer } from '../../src/stream/entry.ts'
import { NOW, type Pipeline, batch, eventFact, identify, identifyFact, openPipeline, track } from '../support/facts.ts'
import { readPeople } from '../support/read-people.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const ANN = { email: 'ann@x.io' }
const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
})

describe('a repeated idempotency key', () => {
  it('records nothing, whatever the event name; tags, traits and identity fields are applied', async () => {
    await pipeline.track(track(businessId, eventFact('paid', ANN, { value: 5, idempotencyKey: 'k' })))
    const answer = await pipeline.track(
      track(
        businessId,
        eventFact(
          'purchase',
          { ...ANN, phone: '972500000001' },
          { value: 9, idempotencyKey: 'k', tags: ['late'], traits: { plan: 'pro' } },
        ),
      ),
    )
    expect(answer).toMatchObject({ deduped: true, isNew: false, interpreted: { type: 'purchase', countedRevenue: 0 } })
    const [person, ...others] = await readPeople(stack.sql, businessId)
    expect(others).toEqual([])
    expect(person).toMatchObject({
      identities: ['email:ann@x.io', 'phone:972500000001'],
      revenue: { USD: '5' },
      orders: 1,
      stage: 0,
      tags: ['late'],
    })
    expect(Object.keys(person?.events ?? {})).toEqual(['paid'])
  })

  it('says nothing of its amount', async () => {
    const facts = [0, 0.000_000_4, 1e16].flatMap((value, at) =>
      Array.from({ length: 2 }, () => eventFact('lesson', ANN, { value, idempotencyKey: `k${at}` })),
    )
    const { items } = await pipeline.batch(batch(businessId, facts))
    const warned = items.map((item) => 'deduped' in item && [item.deduped, item.warnings.length])
    expect(warned).toEqual(
      [0, 1, 2].flatMap(() => [
        [false, 1],
        [true, 0],
      ]),
    )
  })

  it('applies traits as of the recorded event when it sends no time', async () => {
    const recorded = eventFact('e', ANN, { occurredAt: NOW - 10, idempotencyKey: 'k', traits: { plan: 'old' } })
    await pipeline.track(track(businessId, recorded))
    await pipeline.track(track(businessId, eventFact('e', ANN, { occurredAt: NOW - 5, traits: { plan: 'newer' } })))
    const repeat = eventFact('e', ANN, { idempotencyKey: 'k', traits: { plan: 'too old' } })
    await pipeline.track(track(businessId, { ...repeat, occurredAt: NOW, occurredAtSent: false }))
    const [person] = await readPeople(stack.sql, businessId)
    expect(person?.traits['plan']).toEqual([NOW - 5, '"newer"'])
  })

  it('is one key within a batch and across endpoints', async () => {
    const facts = [1, 2].map((value) => eventFact('paid', ANN, { value, idempotencyKey: 'k' }))
    const { items } = await pipeline.batch(batch(businessId, facts))
    expect(items).toMatchObject([{ deduped: false }, { deduped: true }])
    expect(await pipeline.track(track(businessId, facts[1]!))).toMatchObject({ deduped: true })
    expect((await readPeople(stack.sql, businessId))[0]?.revenue).toEqual({ USD: '1' })
  })

  it('belongs to one business: the same key in another business is a new one', async () => {
    const other = await createBusiness(stack.sql)
    const fact = eventFact('paid', ANN, { idempotencyKey: 'k' })
    const answers = [await pipeline.track(track(businessId, fact)), await pipeline.track(track(other.businessId, fact))]
    expect(answers.map((answer) => answer.deduped)).toEqual([false, false])
    expect(answers[0]?.contactId).not.toBe(answers[1]?.contactId)
  })

  it('counts for its own business only, also when others use the same key in the same micro-batch', async () => {
    const others = [(await createBusiness(stack.sql)).businessId, (await createBusiness(stack.sql)).businessId]
    const fact = eventFact('paid', ANN, { idempotencyKey: 'k' })
    await pipeline.track(track(businessId, fact))
    const answers = await pipeline.apply(...[others[0]!, businessId, others[1]!].map((id) => track(id, fact)))
    expect(answers).toMatchObject([{ deduped: false }, { deduped: true }, { deduped: false }])
  })

  it('links no browser', async () => {
    const fact = eventFact('e', ANN, { idempotencyKey: 'k' })
    await pipeline.track(track(businessId, fact))
    await pipeline.track(track(businessId, { ...fact, visitorId: 'v' }))
    expect(await stack.sql`select 1 from visitors where business_id = ${businessId}`).toHaveLength(0)
  })
})

describe('an erasure', () => {
  async function erase(contactId: string): Promise<ContactAnswer> {
    const [answer] = await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId })
    return answer as ContactAnswer
  }
  const PERSONAL = [
    'contacts',
    'identities',
    'event_statistics',
    'revenue',
    'subscriptions',
    'visitors',
    'contact_visitors',
    'identifications',
    'enrolments',
    'deliveries',
    'merge_log',
    'dead_letters',
  ]

  it('leaves nothing of the person under any of its ids, and everything of the neighbours', async () => {
    const made = await pipeline.track(
      track(
        businessId,
        eventFact('paid', ANN, { value: 5, idempotencyKey: 'k', visitorId: 'v', tags: ['t'], traits: { a: 1 } }),
      ),
    )
    const phone = await pipeline.identify(
      identify(businessId, identifyFact({ phone: '972500000001' }, { visitorId: 'w' })),
    )
    await pipeline.apply({
      kind: 'subscribe',
      businessId,
      receivedAt: NOW,
      contactId: phone.contactId,
      channels: { sms: true },
      method: 'form',
    })
    await pipeline.track(track(businessId, eventFact('joined', { ...ANN, phone: '972500000001' })))
    await pipeline.track(track(businessId, eventFact('paid', { email: 'bob@x.io' }, { value: 7 })))

    const answer = await erase(phone.contactId)
    expect(answer.erasedIds?.toSorted()).toEqual([made.contactId, phone.contactId].toSorted())
    await scrubOutbox(stack.sql, businessId, answer.erasedIds ?? [])
    for (const table of PERSONAL) {
      const [{ left }] = await stack.sql<[{ left: number }]>`
        select count(*)::int as left from ${stack.sql(table)} t where business_id = ${businessId}
        and (${answer.erasedIds!.join(' ')} like '%' || coalesce(to_jsonb(t) ->> 'contact_id', to_jsonb(t) ->> 'id') || '%')`
      expect([table, left]).toEqual([table, 0])
    }
    const outbox = await stack.sql<
      { text: string }[]
    >`select o::text as text from outbox o where business_ids && array[${businessId}]::uuid[] or events like ${`%${businessId}%`}`
    const left = outbox.map((row) => row.text).join()
    for (const trace of [...answer.erasedIds!, 'ann@x.io', '972500000001']) expect(left).not.toContain(trace)
    expect(left).toContain('paid')
    expect(await readPeople(stack.sql, businessId)).toMatchObject([
      { identities: ['email:bob@x.io'], revenue: { USD: '7' } },
    ])
  })

  it('deletes the person from packed rows, and leaves the others', async () => {
    const long = (text: string) => JSON.stringify({ text: `${text} `.repeat(4000) })
    const [ann] = (await pipeline.apply(
      track(businessId, eventFact('seen', ANN, { properties: long('secret') })),
      track(businessId, eventFact('seen', { email: 'bob@x.io' }, { properties: long('open') })),
    )) as TrackAnswer[]
    const rows = () => stack.sql<{ events: string; event_count: number; unpacked_bytes: number | null }[]>`
      select events, event_count, unpacked_bytes from outbox where ${businessId}::uuid = any (business_ids) and events <> ''`
    expect((await rows())[0]?.unpacked_bytes).toBeGreaterThan(40_000)
    const { erasedIds = [] } = await erase(ann!.contactId)
    await scrubOutbox(stack.sql, businessId, erasedIds)
    const left = await rows()
    expect(left).toMatchObject([{ event_count: 1, unpacked_bytes: null }])
    const text = left.map(({ events }) => events).join()
    for (const trace of [...erasedIds, 'secret']) expect(text).not.toContain(trace)
    expect(text).toContain('open')
  })

  it('is not undone by a repeat; new facts make a new contact', async () => {
    const fact = eventFact('paid', ANN, { value: 5.000_000_1, idempotencyKey: 'k', tags: ['t'] })
    const { contactId } = await pipeline.track(track(businessId, fact))
    await erase(contactId)
    const repeat = await pipeline.track(track(businessId, fact))
    expect(repeat).toMatchObject({ contactId, deduped: true, isNew: false, interpreted: { countedRevenue: 0 } })
    expect(repeat.warnings).toHaveLength(1)
    expect(await readPeople(stack.sql, businessId)).toEqual([])
    const fresh = await pipeline.track(track(businessId, eventFact('paid', ANN)))
    expect(fresh).toMatchObject({ isNew: true, deduped: false })
    expect(fresh.contactId).not.toBe(contactId)
  })

  it('leaves the survivor as the answer to a repeated call of a contact merged into it', async () => {
    const phone = { phone: '972500000001' }
    const survivor = await pipeline.identify(identify(businessId, identifyFact(phone)))
    const fact = eventFact('paid', ANN, { value: 5, idempotencyKey: 'k' })
    const loser = await pipeline.track(track(businessId, fact))
    await pipeline.track(track(businessId, eventFact('joined', { ...ANN, ...phone })))
    expect((await erase(loser.contactId)).erasedIds).toEqual([survivor.contactId, loser.contactId])
    expect(await pipeline.track(track(businessId, fact))).toMatchObject({
      contactId: survivor.contactId,
      deduped: true,
      isNew: false,
    })
    expect(await readPeople(stack.sql, businessId)).toEqual([])
  })

  it('unpacks a dead letter only once, however many identities it is searched for', async () => {
    const { contactId } = await pipeline.track(track(businessId, eventFact('e', ANN)))
    await stack.sql`
      insert into identities (business_id, kind, value, contact_id, position, phone_read, proven)
      select ${businessId}, 'email', n || '@x.io', ${contactId}, n, false, false from generate_series(1, 100) n`
    const letters = 20
    await stack.sql`
      insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
      select gen_random_uuid(), ${businessId}, 'p', '0-1', 'track', 'r', string_agg(md5(letter || ' ' || n), '')
      from generate_series(1, ${letters}::int) letter, generate_series(1, 1000) n group by letter`
    const [read] = await stack.sql<[Record<string, [{ Plan: Record<string, number> }]>]>`
      explain (analyze, buffers, format json) select erase_contact(${businessId}, ${contactId})`
    const pages = read['QUERY PLAN']?.[0].Plan['Shared Hit Blocks']
    // About 20 pages for each dead letter, and the pages of everything else.
    expect(pages).toBeLessThan(letters * 100)
  })

  it('takes along what was set aside of the person, whatever its form', async () => {
    const { contactId } = await pipeline.track(track(businessId, eventFact('e', ANN)))
    const letters = [
      { contact_id: contactId, kind: 'timeline', payload: JSON.stringify({ contact_id: contactId }) },
      { contact_id: null, kind: 'subscribe', payload: JSON.stringify({ kind: 'subscribe', contactId }) },
      { contact_id: null, kind: 'track', payload: JSON.stringify(track(businessId, eventFact('e', ANN))) },
      {
        contact_id: null,
        kind: 'track',
        payload: JSON.stringify(track(businessId, eventFact('e', { email: 'bob@x.io' }))),
      },
    ]
    for (const { contact_id, kind, payload } of letters)
      await stack.sql`insert into dead_letters (id, business_id, contact_id, partition, stream_id, kind, reason, payload)
        values (${crypto.randomUUID()}, ${businessId}, ${contact_id}, 'p', '0-1', ${kind}, 'r', ${payload})`
    const unreadable = pipeline.microBatch()
    const payload = JSON.stringify({ kind: 'track', businessId, fact: { identity: ANN } })
    unreadable.poisoned.push({ streamId: unreadable.to, businessId, reason: 'r', payload })
    await pipeline.run(unreadable)
    await erase(contactId)
    const left = await stack.sql<
      { payload: string }[]
    >`select payload from dead_letters where business_id = ${businessId}`
    expect(left.map(({ payload }) => payload)).toEqual([letters[3]?.payload])
  })

  it('is decided by itself: requests that came in the same batch are kept for the operator', async () => {
    const { contactId } = await pipeline.track(track(businessId, eventFact('e', ANN)))
    const erasure = { kind: 'erase', businessId, receivedAt: NOW, contactId } as const
    const beside = track(businessId, eventFact('e', { email: 'bob@x.io' }))
    expect(await pipeline.apply(beside, erasure)).toMatchObject([{ isNew: true }, { failed: true }])
    expect(await pipeline.apply(erasure, beside)).toMatchObject([{ contactId }, { failed: true }])
    const letters = await stack.sql`select reason from dead_letters where business_id = ${businessId}`
    // The erasure that succeeded has deleted the dead letter of the one that failed.
    expect(letters.map((row) => String(row['reason']))).toEqual([
      'an erasure or an edit must be alone in its micro-batch',
    ])
  })

  it('finds nothing twice, nor another business’s contact', async () => {
    const { contactId } = await pipeline.track(track(businessId, eventFact('e', ANN)))
    const other = await createBusiness(stack.sql)
    const [foreign] = await pipeline.apply({ kind: 'erase', businessId: other.businessId, receivedAt: NOW, contactId })
    expect(foreign).toEqual({ contactId: null })
    expect((await erase(contactId)).contactId).toBe(contactId)
    expect(await erase(contactId)).toEqual({ contactId: null })
  })
})
