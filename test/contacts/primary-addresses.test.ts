/** Which email and phone of a contact are primary, and addresses that are removed. */
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readContact } from '../../src/contacts/read/read-contact.ts'
import type { EditFact, Identity } from '../../src/rules/events/facts.ts'
import type { EditAnswer } from '../../src/stream/entry.ts'
import {
  NOW,
  type Pipeline,
  type RequestContext,
  batch,
  eventFact,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
import { runs } from '../support/runs.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
})

const ID = { platformCustomerId: 'u1' }
const OLD = { ...ID, email: 'old@x.io' }
const NEW = { ...ID, email: 'new@x.io' }

const calls = (business = businessId) => ({
  /** `makesPrimary`: as the front door says of a live call with a secret key. */
  identify: (identity: Identity, keyed = true): RequestContext => ({
    kind: 'identify',
    businessId: business,
    receivedAt: NOW,
    keyed,
    fact: identifyFact(identity),
    ...(keyed && { makesPrimary: true }),
  }),
  list: (identity: Identity): RequestContext => ({
    kind: 'identify_batch',
    businessId: business,
    receivedAt: NOW,
    items: [{ index: 0, fact: identifyFact(identity) }],
  }),
  track: (identity: Identity, keyed = true) => track(business, eventFact('seen', identity), keyed),
  batch: (identity: Identity) => batch(business, [eventFact('seen', identity)]),
  edit: (contactId: string, fact: Partial<EditFact>): RequestContext => ({
    kind: 'edit',
    businessId: business,
    receivedAt: NOW,
    contactId,
    fact: { profile: {}, traits: {}, addTags: [], removeTags: [], warnings: [], ...fact },
  }),
})

async function listOf(identity: Partial<Record<string, string>>, business = businessId) {
  const [kind = '', value = ''] = Object.entries(identity).flat()
  const [row] = await stack.sql<{ id: string }[]>`
    select contact_id as id from identities where business_id = ${business} and kind = ${kind} and value = ${value}`
  if (!row) return undefined
  return {
    id: row.id,
    ...(await readContact(stack.sql, { businessId: business, contactId: row.id, currency: 'USD' }))!,
  }
}
const emails = async (identity: Partial<Record<string, string>> = ID) => (await listOf(identity))?.identities.email
const edit = async (contactId: string, fact: Partial<EditFact>) =>
  (await pipeline.apply(calls().edit(contactId, fact)))[0] as EditAnswer

describe('the primary email', () => {
  it('is the one that identify named last', async () => {
    await pipeline.apply(calls().identify(OLD))
    expect(await emails()).toEqual(['old@x.io'])
    await pipeline.apply(calls().identify(NEW))
    expect(await emails()).toEqual(['new@x.io', 'old@x.io'])
    await pipeline.apply(calls().identify(OLD))
    expect(await emails()).toEqual(['old@x.io', 'new@x.io'])
  })

  it('is followed by the others as they were first sent', async () => {
    for (const email of ['a@x.io', 'b@x.io', 'c@x.io', 'd@x.io'])
      await pipeline.apply(calls().identify({ ...ID, email }))
    expect(await emails()).toEqual(['d@x.io', 'a@x.io', 'b@x.io', 'c@x.io'])
    await pipeline.apply(calls().identify({ ...ID, email: 'b@x.io' }))
    expect(await emails()).toEqual(['b@x.io', 'a@x.io', 'c@x.io', 'd@x.io'])
  })

  it('is named by a call that finds the contact by that email alone', async () => {
    await pipeline.apply(calls().identify(OLD))
    await pipeline.apply(calls().track(NEW))
    await pipeline.apply(calls().identify({ email: 'new@x.io' }))
    expect(await emails()).toEqual(['new@x.io', 'old@x.io'])
  })

  it.each(['track', 'batch', 'list'] as const)('is not moved by %s', async (kind) => {
    await pipeline.apply(calls()[kind](OLD))
    await pipeline.apply(calls()[kind](NEW))
    await pipeline.apply(calls()[kind](NEW))
    expect(await emails()).toEqual(['old@x.io', 'new@x.io'])
    await pipeline.apply(calls().identify({ ...ID, email: 'third@x.io' }))
    await pipeline.apply(calls()[kind](OLD))
    expect(await emails()).toEqual(['third@x.io', 'old@x.io', 'new@x.io'])
  })

  it('is not moved by a page, nor by a replay', async () => {
    await pipeline.apply(calls().identify(OLD))
    await pipeline.apply(calls().track(NEW))
    await pipeline.apply(calls().identify({ email: 'new@x.io' }, false))
    await pipeline.apply({ ...calls().identify(NEW), replayOf: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11' })
    expect(await emails()).toEqual(['old@x.io', 'new@x.io'])
  })

  it('is, when none was named, the one that a keyed call first sent', async () => {
    await pipeline.apply(calls().track({ email: 'page@x.io' }, false))
    const { id } = (await listOf({ email: 'page@x.io' }))!
    await pipeline.apply(calls().track({ email: 'page@x.io', phone: '972500000001' }))
    await stack.sql`update identities set proven = false where business_id = ${businessId} and kind = 'email'`
    const fresh = await openPipeline(stack.sql)
    await fresh.apply(calls().track({ phone: '972500000001', email: 'server@x.io' }))
    expect((await listOf({ phone: '972500000001' }))?.identities.email).toEqual(['server@x.io', 'page@x.io'])
    await fresh.apply(calls().track({ phone: '972500000001', email: 'page@x.io' }))
    const contact = (await listOf({ phone: '972500000001' }))!
    expect(contact.id).toBe(id)
    expect(contact.identities.email).toEqual(['server@x.io', 'page@x.io'])
  })

  it('is written once: a call that names it again changes nothing', async () => {
    await pipeline.apply(calls().identify(OLD))
    await pipeline.apply(calls().identify(NEW))
    const before = await stack.sql`select * from identities where business_id = ${businessId} order by value`
    const [contact] = await stack.sql`select version, revision from contacts where business_id = ${businessId}`
    await pipeline.apply(calls().identify(NEW))
    expect(await stack.sql`select * from identities where business_id = ${businessId} order by value`).toEqual(before)
    expect((await stack.sql`select version, revision from contacts where business_id = ${businessId}`)[0]).toEqual(
      contact,
    )
  })

  it.each([
    ['cached', () => pipeline],
    ['read again', () => openPipeline(stack.sql)],
  ])('is recorded once when a tracked contact is identified: %s', async (_, open) => {
    for (const identity of [OLD, { email: 'only@x.io' }]) {
      const rows = () =>
        stack.sql`select * from identities where business_id = ${businessId} and value = ${identity.email}`
      await (await open()).apply(calls().track(identity))
      expect(await rows()).toMatchObject([{ is_primary: false, named: null }])
      await (await open()).apply(calls().identify(identity))
      const recorded = await rows()
      expect(recorded).toMatchObject([{ is_primary: true }])
      expect(recorded[0]?.['named']).not.toBeNull()
      await (await open()).apply(calls().identify(identity))
      expect(await rows()).toEqual(recorded)
    }
  })

  it.each(['one by one', 'in one micro-batch'])(
    'is, after a merge, a tracked one that was identified last: %s',
    async (way) => {
      const sent = [
        calls().track({ email: 'a@x.io' }),
        calls().identify({ email: 'b@x.io' }),
        calls().identify({ email: 'a@x.io' }),
      ]
      if (way === 'one by one') for (const one of sent) await pipeline.apply(one)
      else await pipeline.apply(...sent)
      await pipeline.apply(calls().track({ email: 'b@x.io', phone: '972500000001' }))
      await pipeline.apply(calls().track({ email: 'a@x.io', phone: '972500000001' }))
      expect(await emails({ email: 'a@x.io' })).toEqual(['a@x.io', 'b@x.io'])
    },
  )

  it('is, after a merge, the one that was named last', async () => {
    await pipeline.apply(calls().identify({ email: 'a@x.io' }))
    await pipeline.apply(calls().track({ email: 'b@x.io' }))
    await pipeline.apply(calls().identify({ email: 'c@x.io' }))
    await pipeline.apply(calls().track({ email: 'b@x.io', phone: '972500000001' }))
    await pipeline.apply(calls().track({ email: 'c@x.io', phone: '972500000001' }))
    await pipeline.apply(calls().track({ email: 'a@x.io', phone: '972500000001' }))
    expect(await emails({ email: 'a@x.io' })).toEqual(['c@x.io', 'a@x.io', 'b@x.io'])
  })

  it('is, after a merge, the one that the merging call names', async () => {
    await pipeline.apply(calls().identify({ email: 'a@x.io', phone: '972500000001' }))
    await pipeline.apply(calls().identify({ email: 'b@x.io' }))
    await pipeline.apply(calls().identify({ phone: '972500000001', email: 'b@x.io' }))
    expect(await emails({ email: 'a@x.io' })).toEqual(['b@x.io', 'a@x.io'])
  })

  it('has no part in the phones: each kind has its own', async () => {
    await pipeline.apply(calls().identify({ ...OLD, phone: '972500000001' }))
    await pipeline.apply(calls().track({ ...ID, phone: '972500000002' }))
    await pipeline.apply(calls().identify({ ...ID, phone: '972500000002' }))
    const { identities } = (await listOf(ID))!
    expect(identities).toMatchObject({ email: ['old@x.io'], phone: ['972500000002', '972500000001'] })
  })
})

describe('an edit', () => {
  beforeEach(async () => {
    for (const email of ['a@x.io', 'b@x.io', 'c@x.io']) await pipeline.apply(calls().identify({ ...ID, email }))
  })
  const idOf = async () => (await listOf(ID))!.id

  it('names a primary address', async () => {
    expect(await edit(await idOf(), { primary: { email: 'a@x.io' } })).toMatchObject({ warnings: [] })
    expect(await emails()).toEqual(['a@x.io', 'b@x.io', 'c@x.io'])
    expect(await edit(await idOf(), { primary: { email: 'a@x.io' } })).toMatchObject({ warnings: [] })
  })

  it('names the only address: it is recorded as primary', async () => {
    await pipeline.apply(calls().track({ email: 'only@x.io' }))
    const { id } = (await listOf({ email: 'only@x.io' }))!
    await edit(id, { primary: { email: 'only@x.io' } })
    const rows = await stack.sql`
      select is_primary, named is not null as named from identities
      where business_id = ${businessId} and value = 'only@x.io'`
    expect(rows).toEqual([{ is_primary: true, named: true }])
    await pipeline.apply(calls().track({ email: 'only@x.io', platformCustomerId: 'u2' }))
    await pipeline.apply(calls().track({ email: 'later@x.io', platformCustomerId: 'u2' }))
    expect(await emails({ email: 'only@x.io' })).toEqual(['only@x.io', 'later@x.io'])
  })

  it('refuses an address of nobody and of others, and changes nothing', async () => {
    await pipeline.apply(calls().identify({ email: 'else@x.io' }))
    for (const email of ['new@x.io', 'else@x.io']) {
      const { issues } = await edit(await idOf(), { primary: { email }, addTags: ['late'] })
      expect(issues).toMatchObject([{ path: 'primaryEmail', code: 'email_of_the_contact' }])
    }
    expect((await listOf(ID))?.tags).toEqual([])
  })

  it('proves an address that only a page has sent', async () => {
    await pipeline.apply(calls().track({ phone: '972500000001' }, false))
    const { id } = (await listOf({ phone: '972500000001' }))!
    await pipeline.apply(calls().track({ phone: '972500000001', email: 'p@x.io' }, false))
    await edit(id, { primary: { email: 'p@x.io' } })
    expect(
      await stack.sql`select proven, is_primary from identities where business_id = ${businessId} and value = 'p@x.io'`,
    ).toEqual([{ proven: true, is_primary: true }])
  })

  it('removes addresses, which then find nobody and can belong to another', async () => {
    expect(await edit(await idOf(), { removed: { email: ['b@x.io', 'never@x.io'] } })).toMatchObject({
      warnings: ['removeIdentities.email has a value that the contact does not have'],
    })
    expect(await emails()).toEqual(['c@x.io', 'a@x.io'])
    expect(await listOf({ email: 'b@x.io' })).toBeUndefined()
    const id = await idOf()
    await pipeline.apply(calls().track({ email: 'b@x.io' }))
    expect((await listOf({ email: 'b@x.io' }))!.id).not.toBe(id)
  })

  it('that removes the primary address leaves the one that was named before it', async () => {
    await edit(await idOf(), { removed: { email: ['c@x.io'] } })
    expect(await emails()).toEqual(['b@x.io', 'a@x.io'])
    // The contact is read again, because the cache does not know which one that is.
    await pipeline.apply(calls().identify({ ...ID, email: 'a@x.io' }))
    expect(await emails()).toEqual(['a@x.io', 'b@x.io'])
    await edit(await idOf(), { removed: { email: ['a@x.io', 'b@x.io'] } })
    expect(await emails()).toEqual([])
  })

  it('removes one and names another at once, but not the same', async () => {
    const { issues } = await edit(await idOf(), { removed: { email: ['a@x.io'] }, primary: { email: 'a@x.io' } })
    expect(issues).toMatchObject([{ path: 'primaryEmail', code: 'removed_as_well' }])
    await edit(await idOf(), { removed: { email: ['c@x.io'] }, primary: { email: 'a@x.io' } })
    expect(await emails()).toEqual(['a@x.io', 'b@x.io'])
  })

  it('leaves at least one identity', async () => {
    await pipeline.apply(calls().identify({ email: 'p@x.io', phone: '972500000009' }))
    const { id } = (await listOf({ email: 'p@x.io' }))!
    const all = { email: ['p@x.io'], phone: ['972500000009'] }
    expect((await edit(id, { removed: all })).issues).toMatchObject([{ code: 'one_identity_left' }])
    await edit(id, { removed: { email: ['p@x.io'] } })
    expect((await listOf({ phone: '972500000009' }))?.identities).toMatchObject({ email: [], phone: ['972500000009'] })
    expect((await edit(id, { removed: { phone: ['972500000009'] } })).issues).toMatchObject([
      { code: 'one_identity_left' },
    ])
  })

  it('finds no erased contact; an erasure takes every address with it', async () => {
    const id = await idOf()
    await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId: id })
    expect(await edit(id, { primary: { email: 'a@x.io' } })).toMatchObject({ contactId: null })
    expect(await stack.sql`select from identities where business_id = ${businessId}`).toEqual([])
  })

  it('races with identify: one of both orders, and one primary address', async () => {
    const id = await idOf()
    const made = [
      calls().identify({ ...ID, email: 'a@x.io' }),
      calls().identify({ ...ID, email: 'a@x.io' }),
      calls().edit(id, { primary: { email: 'b@x.io' } }),
      calls().edit(id, { removed: { email: ['c@x.io'] } }),
    ]
    const pipelines = await Promise.all(made.map(async () => openPipeline(stack.sql)))
    await Promise.all(made.map((call, at) => pipelines[at]!.apply(call)))
    const [first, ...rest] = (await emails())!
    expect(['a@x.io', 'b@x.io']).toContain(first)
    expect(new Set([first, ...rest])).toEqual(new Set(['a@x.io', 'b@x.io']))
    const primary = await stack.sql`
      select value from identities where business_id = ${businessId} and kind = 'email' and is_primary`
    expect(primary).toEqual([{ value: first }])
  })
})

it('any calls leave the same order, however they are cut into micro-batches', async () => {
  const value = fc.constantFrom('1', '2', '3', '4')
  const identity = fc
    .record(
      {
        email: value.map((n) => `${n}@x.io`),
        phone: value.map((n) => `97250000000${n}`),
        platformCustomerId: fc.constant('u1'),
      },
      { requiredKeys: [] },
    )
    .filter((sent) => Object.keys(sent).length > 0)
  const call = fc.record({
    kind: fc.constantFrom('identify', 'identify', 'track', 'page', 'page_identify'),
    identity,
    /** Whether the next call belongs to the same micro-batch. */
    joins: fc.boolean(),
  })
  type Call = { kind: string; identity: Identity; joins: boolean }
  const made = (business: string, { kind, identity: sent }: Call): RequestContext => {
    if (kind === 'identify' || kind === 'page_identify') return calls(business).identify(sent, kind === 'identify')
    return calls(business).track(sent, kind === 'track')
  }
  const orderOf = async (business: string) =>
    await stack.sql`
      select kind, json_agg(value order by proven desc, is_primary desc, position) as values from identities
      where business_id = ${business} group by contact_id, kind order by kind, min(value)`
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 10 }), async (sent) => {
      const [single, cut] = [await createBusiness(stack.sql), await createBusiness(stack.sql)]
      for (const one of sent) await (await openPipeline(stack.sql)).apply(made(single.businessId, one))
      const many = await openPipeline(stack.sql)
      let waiting: RequestContext[] = []
      for (const one of sent) {
        waiting.push(made(cut.businessId, one))
        if (one.joins) continue
        await many.apply(...waiting)
        waiting = []
      }
      if (waiting.length > 0) await many.apply(...waiting)
      expect(await orderOf(cut.businessId)).toEqual(await orderOf(single.businessId))
    }),
    { numRuns: runs(60) },
  )
})
