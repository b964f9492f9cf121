/** Editing a contact, through the whole service (decisions, "Reading back": PATCH). */
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { EditedData } from '../../src/front-door/routes/contacts/reply-schemas.ts'
import { QueuedData } from '../../src/front-door/routes/reply-fields.ts'
import { openService } from '../support/service.ts'
import { createBusiness, type TestBusiness } from '../support/stack.ts'
import { ASYNC, type Answer, type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({ ANSWER_TIMEOUT_MS: '60000' }))
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { country: 'IL' })
})

const ADA = { email: 'ada@example.com' }
const ask = (method: string, path: string, json?: unknown, headers = {}) =>
  speak(method, path, { key: tenant.secretKey, json, headers })
const code = ({ status, body }: Answer) => [status, body.error?.code]

/** On a busy machine, a call that waits for too long is refused with 503. */
const track = (json: object = {}): Promise<string> =>
  vi.waitFor(
    async () => {
      const { status, body } = await ask('POST', '/api/sdk/track', { event: 'e', identity: ADA, ...json })
      expect(status).toBe(200)
      return String(body.data['contactId'])
    },
    { timeout: PATIENCE_MS },
  )
type Contact = Record<string, unknown> & { tags: string[]; customFields: Record<string, unknown> }
const edit = (id: string, json: object) =>
  vi.waitFor(
    async () => {
      const answer = await ask('PATCH', `/api/contacts/${id}`, json)
      return dataOf(EditedData, answer) as { contact: Contact; warnings?: string[] }
    },
    { timeout: PATIENCE_MS },
  )
/** Ids of contacts are made of the place in the stream, and other files' streams fill the same tables. */
const snapshotOf = async (contactId: string, columns: string): Promise<unknown[]> => {
  const result = await service.clickhouse.query({
    query: `select ${columns} from contact_snapshots final
      where business_id = {businessId: UUID} and contact_id = {contactId: UUID}`,
    query_params: { businessId: tenant.businessId, contactId },
    format: 'JSONEachRow',
  })
  return await result.json()
}
const read = async (id: string) => (await ask('GET', `/api/contacts/${id}`)).body.data['contact'] as Contact

describe('an edit', () => {
  it('sets what it names, clears what is null, and leaves the rest', async () => {
    const id = await track({ traits: { plan: 'pro', seats: 5, kept: true }, tags: ['old', 'stays'] })
    await ask('POST', '/api/sdk/identify', {
      identity: ADA,
      profile: { name: 'Ada Byron', city: 'London', language: 'en' },
    })
    const { contact, warnings } = await edit(id, {
      profile: { lastName: ' King ', city: null, timezone: 'europe/london', country: undefined, unknown: 1 },
      traits: { plan: 'free', seats: null, since: '2026-01-01' },
      addTags: ['new', 'new ', 'stays'],
      removeTags: ['old', 'never had'],
    })
    expect(warnings).toBeUndefined()
    expect(contact).toMatchObject({
      contactId: id,
      firstName: 'Ada',
      lastName: 'King',
      city: null,
      language: 'en',
      timezone: 'Europe/London',
      customFields: { plan: 'free', kept: true, since: '2026-01-01' },
      tags: ['stays', 'new'],
    })
    expect(contact.customFields).not.toHaveProperty('seats')
    // Engagement comes from ClickHouse, and is null while that is busy.
    expect({ ...(await read(id)), engagement: null }).toEqual({ ...contact, engagement: null })
    await service.shipped()
    expect(await snapshotOf(id, 'last_name, city, tags')).toEqual([
      { last_name: 'King', city: null, tags: ['stays', 'new'] },
    ])
  })

  it('names the field that was meant, in the profile too, and for the names that a contact is read with', async () => {
    const id = await track()
    const { contact, warnings } = await edit(id, {
      profile: { first_name: 'Ada', city: 'London' },
      addtags: ['vip'],
      tags: ['vip'],
      customFields: { plan: 'pro' },
      lastName: 'King',
      country: null,
    })
    expect(contact).toMatchObject({ city: 'London', firstName: null, lastName: null, tags: [], customFields: {} })
    const ignored = (sent: string, meant: string) =>
      `${sent} was ignored: there is no such field; did you mean ${meant}?`
    expect(warnings).toEqual([
      ignored('addtags', 'addTags'),
      ignored('profile.first_name', 'profile.firstName'),
      ignored('tags', 'addTags or removeTags'),
      ignored('customFields', 'traits'),
      ignored('lastName', 'profile.lastName'),
    ])
  })

  it('names the fields that were meant when it has no others', async () => {
    const json = { addtags: ['vip'], tags: ['vip'], customFields: { plan: 'pro' }, firstName: 'Ada', other: 1 }
    const answer = await ask('PATCH', `/api/contacts/${await track()}`, json)
    expect(code(answer)).toEqual([400, 'invalid_request'])
    const fields = 'profile, traits, addTags, removeTags, primaryEmail, primaryPhone and removeIdentities'
    const ignored = (path: string, meant: string) => ({
      path,
      message: `${path} was ignored: there is no such field; did you mean ${meant}?`,
    })
    expect(answer.body.error.issues).toEqual([
      { path: '', message: `at least one of ${fields} is required` },
      ignored('addtags', 'addTags'),
      ignored('tags', 'addTags or removeTags'),
      ignored('customFields', 'traits'),
      ignored('firstName', 'profile.firstName'),
    ])
  })

  it('sets a whole name: one word clears the rest of it', async () => {
    const id = await track()
    expect((await edit(id, { profile: { name: 'Ada Augusta King' } })).contact).toMatchObject({
      firstName: 'Ada',
      lastName: 'Augusta King',
    })
    expect((await edit(id, { profile: { name: 'Ada' } })).contact).toMatchObject({ firstName: 'Ada', lastName: null })
    expect((await edit(id, { profile: { name: null, lastName: 'King' } })).contact).toMatchObject({
      firstName: null,
      lastName: 'King',
    })
    await ask('POST', '/api/sdk/identify', { identity: ADA, profile: { name: 'Someone Else' } })
    expect(await read(id)).toMatchObject({ firstName: 'Someone', lastName: 'King' })
  })

  it('wins over a trait that is dated later, and loses against what is newer than itself', async () => {
    const inFourMinutes = new Date(Date.now() + 240_000).toISOString()
    const id = await track({ traits: { plan: 'z', seats: 5 }, occurredAt: inFourMinutes })
    expect((await edit(id, { traits: { plan: 'a', seats: null } })).contact.customFields).toEqual({ plan: 'a' })
    await track({ traits: { plan: 'old', seats: 1 }, occurredAt: inFourMinutes })
    expect((await read(id)).customFields).toEqual({ plan: 'a' })
    await track({ traits: { plan: 'new' }, occurredAt: new Date(Date.now() + 270_000).toISOString() })
    expect((await read(id)).customFields).toEqual({ plan: 'new' })
  })

  it('is refused as a whole, with the path', async () => {
    const id = await track({ traits: { seats: 5 }, tags: ['t'] })
    const before = await read(id)
    for (const [json, path] of [
      [{ traits: { seats: 'five', plan: 'x' }, addTags: ['x'] }, 'traits.seats'],
      [{ traits: { seats: [] } }, 'traits.seats'],
      [{ profile: { timezone: 'Moon/Base' } }, 'profile.timezone'],
      [{ profile: { language: 'english' } }, 'profile.language'],
      [{ profile: { city: 7 } }, 'profile.city'],
      [{ profile: { city: ' ' } }, 'profile.city'],
      [{ profile: { city: 'x'.repeat(257) } }, 'profile.city'],
      [{ profile: 'Ada' }, 'profile'],
      [{ addTags: ['a', 'a\0'] }, 'addTags.1'],
      [{ removeTags: ['x'.repeat(65)] }, 'removeTags.0'],
      [{ addTags: Array.from({ length: 51 }, (_, i) => `t${i}`) }, 'addTags'],
      [{ addTags: ['a'], removeTags: [' a'] }, 'removeTags'],
      [{}, ''],
      [{ profile: null, other: 1 }, ''],
    ] as const) {
      const answer = await ask('PATCH', `/api/contacts/${id}`, json)
      expect([json, ...code(answer), answer.body.error?.issues?.[0]?.path]).toEqual([
        json,
        400,
        'invalid_request',
        path,
      ])
    }
    const fifty = Array.from({ length: 50 }, (_, i) => `t${i}`)
    expect({ ...(await read(id)), engagement: null }).toEqual({ ...before, engagement: null })
    expect((await edit(id, { addTags: fifty })).contact.tags).toEqual(['t', ...fifty])
  })

  it('finds no contact under an unknown, an erased or another business’s id, and the survivor under a merged one', async () => {
    const first = await track({ identity: { email: 'a@x.io' } })
    const second = await track({ identity: { phone: '0501234567' } })
    await track({ identity: { email: 'a@x.io', phone: '0501234567' } })
    expect((await edit(second, { addTags: ['both'] })).contact).toMatchObject({ contactId: first, tags: ['both'] })
    await ask('DELETE', `/api/contacts/${first}`)
    const other = await createBusiness(service.sql)
    const theirs = await speak('POST', '/api/sdk/track', { key: other.secretKey, json: { event: 'e', identity: ADA } })
    for (const id of [first, second, String(theirs.body.data['contactId']), randomUUID(), 'nobody'])
      expect(code(await ask('PATCH', `/api/contacts/${id}`, { addTags: ['x'] }))).toEqual([404, 'not_found'])
    const [left] = await service.sql<{ n: number }[]>`
      select count(*)::int as n from removed_tags where business_id = ${tenant.businessId}`
    expect(left?.n).toBe(0)
  })

  it('is queued on request, does not make the contact used, and raises its version', async () => {
    const { body } = await speak('POST', '/api/sdk/identify', {
      json: { identity: ADA, businessId: tenant.businessId },
    })
    const id = String(body.data['contactId'])
    const stored = async () =>
      (
        await service.sql<{ keyed: boolean; version: number; city: string | null }[]>`
        select keyed, version, city from contacts where id = ${id}`
      )[0]
    const before = await stored()
    const answer = await ask('PATCH', `/api/contacts/${id}`, { profile: { city: 'Haifa' } }, ASYNC)
    expect(answer.status).toBe(202)
    dataOf(QueuedData, answer, 202)
    await vi.waitFor(
      async () => expect(await stored()).toEqual({ keyed: false, version: (before?.version ?? 0) + 1, city: 'Haifa' }),
      { timeout: PATIENCE_MS },
    )
  })

  it('undoes no change of another call, and is undone by none', async () => {
    const id = await track()
    const numbers = Array.from({ length: 25 }, (_, i) => i)
    await Promise.all([
      // On a busy machine, one that waits for too long is refused.
      ...numbers.map((i) =>
        vi.waitFor(() => edit(id, { addTags: [`edit${i}`], traits: { [`e${i}`]: i } }), { timeout: PATIENCE_MS }),
      ),
      ...numbers.map((i) => track({ tags: [`live${i}`], traits: { [`l${i}`]: i } })),
      ask('POST', '/api/sdk/track/batch', {
        events: numbers.map((i) => ({ event: 'e', identity: ADA, tags: [`batch${i}`] })),
      }),
    ])
    const { tags, customFields, events } = await read(id)
    expect(tags.toSorted()).toEqual(
      ['edit', 'live', 'batch'].flatMap((kind) => numbers.map((i) => kind + i)).toSorted(),
    )
    expect(Object.keys(customFields)).toHaveLength(50)
    expect(events).toMatchObject([{ count: 51 }])
  })
})

describe('a tag that was removed', () => {
  const repeat = (json = {}) => track({ tags: ['vip', 'other'], idempotencyKey: 'k', ...json })

  it('does not come back by a repeat of an idempotency key, live or in a batch, but by a new event', async () => {
    const id = await repeat()
    await edit(id, { removeTags: ['vip'] })
    await repeat()
    await ask('POST', '/api/sdk/track/batch', {
      events: [{ event: 'e', identity: ADA, tags: ['vip'], idempotencyKey: 'k' }],
    })
    expect((await read(id)).tags).toEqual(['other'])
    await track({ tags: ['vip'], idempotencyKey: 'another' })
    expect((await read(id)).tags).toEqual(['other', 'vip'])
  })

  it('can still come with a repeat, when it was removed before the event', async () => {
    const id = await track({ tags: ['late'] })
    await edit(id, { removeTags: ['late'] })
    await service.sql`update removed_tags set removed_at = removed_at - 600000 where contact_id = ${id}`
    await track({ idempotencyKey: 'k' })
    await track({ idempotencyKey: 'k', tags: ['late'] })
    expect((await read(id)).tags).toEqual(['late'])
  })

  it('stays away after its contact was merged', async () => {
    const survivor = await track({ identity: { phone: '0501234567' } })
    const id = await repeat()
    await edit(id, { removeTags: ['vip'] })
    await track({ identity: { ...ADA, phone: '0501234567' } })
    await repeat()
    expect(await read(id)).toMatchObject({ contactId: survivor, tags: ['other'] })
  })

  it('is remembered for the latest 1,000', async () => {
    const id = await track()
    const remembered = async () =>
      (
        await service.sql<
          { tag: string }[]
        >`select tag from removed_tags where contact_id = ${id} order by removed_at, tag`
      ).map(({ tag }) => tag)
    const name = (i: number) => `t${String(i).padStart(4, '0')}`
    const remove = (at: number, tags: string[]) => service.sql`
      select edit_contact(${tenant.businessId}, ${id}, ${at}, '{}', '{}', ${`{${tags.join(',')}}`}::text[], '{}'),
        edit_contact(${tenant.businessId}, ${id}, ${at}, '{}', '{}', '{}', ${`{${tags.join(',')}}`}::text[])`
    await remove(
      1,
      Array.from({ length: 1000 }, (_, i) => name(i)),
    )
    expect(await remembered()).toHaveLength(1000)
    await remove(2, ['last'])
    const tags = await remembered()
    expect([tags.length, tags[0], tags.at(-1)]).toEqual([1000, name(0), 'last'])
    expect(tags).not.toContain(name(999))
  })
})

describe('the addresses of a contact', () => {
  const addresses = async (id: string) => (await read(id))['identities'] as { email: string[]; phone: string[] }
  beforeEach(async () => {
    await ask('POST', '/api/sdk/identify', { identity: { ...ADA, phone: '050-123-4567', platformCustomerId: 7 } })
  })
  const idOf = async () => await track({ identity: { platformCustomerId: 7, email: 'second@example.com' } })

  it('are made primary in any spelling', async () => {
    const id = await idOf()
    await track({ identity: { platformCustomerId: 7, phone: '050-765-4321' } })
    expect(await addresses(id)).toMatchObject({ email: ['ada@example.com', 'second@example.com'] })
    const { contact } = await edit(id, { primaryEmail: ' Second@Example.com ', primaryPhone: '+972 50 765 4321' })
    expect(contact['identities']).toMatchObject({
      email: ['second@example.com', 'ada@example.com'],
      phone: ['+972507654321', '+972501234567'],
    })
  })

  it('are removed, and then find nobody', async () => {
    const id = await idOf()
    const { contact } = await edit(id, { removeIdentities: { email: ['ADA@example.com'], phone: ['0501234567'] } })
    expect(contact['identities']).toEqual({ email: ['second@example.com'], phone: [], platformCustomerId: ['7'] })
    expect((await ask('GET', '/api/contacts?email=ada@example.com')).body.data['contacts']).toEqual([])
    const { warnings } = await edit(id, { removeIdentities: { email: ['ada@example.com'] } })
    expect(warnings).toEqual(['removeIdentities.email has a value that the contact does not have'])
  })

  it.each([
    ['email', 'unknown@email.com', ' Unknown@email.com '],
    ['phone', '11111', '11111'],
    ['phone', '0507654321', '0507654321'],
    ['phone', '4915123456780', '+4915123456780'],
    ['phone', '4917612345678.0', '4917612345678.0'],
  ])('are removed as earlier rules stored them: %s %s by %s', async (kind, value, sent) => {
    const id = await idOf()
    const before = await addresses(id)
    await service.sql`insert into identities (business_id, kind, value, contact_id, proven)
      values (${tenant.businessId}, ${kind}, ${value}, ${id}, true)`
    await service.sql`update contacts set version = version + 1 where id = ${id}`
    const { contact, warnings } = await edit(id, { removeIdentities: { [kind]: [sent] } })
    expect(warnings).toBeUndefined()
    expect(contact['identities']).toEqual(before)
  })

  it('lose the one that is named exactly, when two spellings of it are stored', async () => {
    const id = await idOf()
    await service.sql`insert into identities (business_id, kind, value, contact_id, proven)
      values (${tenant.businessId}, 'phone', '0501234567', ${id}, true)`
    await service.sql`update contacts set version = version + 1 where id = ${id}`
    await edit(id, { removeIdentities: { phone: ['0501234567'] } })
    expect((await addresses(id)).phone).toEqual(['+972501234567'])
    await edit(id, { removeIdentities: { phone: ['0501234567'] } })
    expect((await addresses(id)).phone).toEqual([])
  })

  it.each<[object, string, string]>([
    [{ primaryEmail: 'other@example.com' }, 'primaryEmail', "one of the contact's emails; add it first with identify"],
    [{ primaryPhone: '0507654321' }, 'primaryPhone', "one of the contact's phones; add it first with identify"],
    [{ primaryEmail: 'null@null' }, 'primaryEmail', 'is a placeholder'],
    [{ primaryEmail: 'x@' + 'y'.repeat(320) }, 'primaryEmail', '3 to 320'],
    [{ primaryPhone: '4.5E+11' }, 'primaryPhone', 'is a placeholder'],
    [{ removeIdentities: { email: ['no address'] } }, 'removeIdentities.email.0', 'one @'],
    [{ removeIdentities: { email: 'ada@example.com' } }, 'removeIdentities.email', 'at most 100'],
    [{ removeIdentities: { email: Array(101).fill('ada@example.com') } }, 'removeIdentities.email', 'at most 100'],
  ])('%j is refused', async (json, path, words) => {
    const answer = await ask('PATCH', `/api/contacts/${await idOf()}`, json)
    expect(code(answer)).toEqual([400, 'invalid_request'])
    expect(answer.body.error.issues![0]).toMatchObject({ path })
    expect(answer.body.error.issues![0]!.message).toContain(words)
  })

  it.each<[object, string, string]>([
    [{ platformCustomerId: ['7'] }, 'platformCustomerId', 'must be left out: a customer id cannot be removed'],
    [{ emails: ['ada@example.com'] }, 'emails', 'is unknown: the known fields are email and phone'],
    [
      { customerId: ['x'], email: ['ada@example.com'] },
      'customerId',
      'is unknown: the known fields are email and phone',
    ],
  ])('%j in removeIdentities is refused, and nothing is removed', async (removeIdentities, field, words) => {
    const id = await idOf()
    const before = await addresses(id)
    const answer = await ask('PATCH', `/api/contacts/${id}`, { removeIdentities, addTags: ['late'] })
    expect(code(answer)).toEqual([400, 'invalid_request'])
    const path = `removeIdentities.${field}`
    expect(answer.body.error.issues).toEqual([{ path, message: `${path} ${words}` }])
    expect(await read(id)).toMatchObject({ identities: before, tags: [] })
  })

  it('are kept when null stands for what is removed', async () => {
    const id = await idOf()
    const { contact, warnings } = await edit(id, { removeIdentities: { platformCustomerId: null, emails: null } })
    expect([contact['identities'], warnings]).toEqual([await addresses(id), undefined])
  })

  it('are refused with at most 20 unknown fields, whose names are cut to 100 characters', async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${'x'.repeat(200)}${n}`, []]))
    const answer = await ask('PATCH', `/api/contacts/${await idOf()}`, { removeIdentities: many })
    expect(answer.body.error.issues).toHaveLength(20)
    expect(answer.body.error.issues![0]?.path).toBe(`removeIdentities.${'x'.repeat(100)}`)
  })

  it('keep at least one identity', async () => {
    const id = await track({ identity: { email: 'only@example.com' } })
    const answer = await ask('PATCH', `/api/contacts/${id}`, { removeIdentities: { email: ['only@example.com'] } })
    expect(code(answer)).toEqual([400, 'invalid_request'])
    expect(await addresses(id)).toMatchObject({ email: ['only@example.com'] })
  })

  it('are in the same order in ClickHouse', async () => {
    const id = await idOf()
    await edit(id, { primaryEmail: 'second@example.com' })
    await service.shipped()
    expect(await snapshotOf(id, 'emails')).toEqual([{ emails: ['second@example.com', 'ada@example.com'] }])
  })
})
