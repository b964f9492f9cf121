/** The list of contacts (decisions, "Reading back"), against a plain filter over the same people. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ContactFilter, countContacts, listContacts } from '../../src/contacts/read/list-contacts.ts'
import { type Stack, openStack } from '../support/stack.ts'
import { runs } from '../support/runs.ts'

let stack: Stack
beforeAll(async () => {
  stack = await openStack()
})
afterAll(async () => {
  await stack?.close()
})

interface Person {
  id: string
  createdAt: number
  firstName: string | null
  lastName: string | null
  email: string
  phone: string
  customerId: string
  tags: string[]
  stage: number
  plan: string | number | boolean
}

const EVERYBODY: ContactFilter = { query: null, tag: null, stage: null, segment: null, field: null }
const T0 = 1_700_000_000_000

/** More than the number that is scanned before an index is used, and more than is read from an index. */
const PEOPLE = 6000

const pick = <T>(list: readonly T[], n: number): T => list[n % list.length]!

/** Two people in each thousand have a word of their own. Every tenth has a character with a meaning in patterns. */
function makePeople(): Person[] {
  return Array.from({ length: PEOPLE }, (_, n) => ({
    id: crypto.randomUUID(),
    // Some at the same instant.
    createdAt: T0 + Math.floor(n / 3),
    firstName: n % 4 === 0 ? null : pick(['Ada', 'Ömer', 'Li', 'O_o', '100%', 'Back\\slash'], n),
    lastName: n % 5 === 0 ? null : n % 500 === 7 ? `Rare${n}` : pick(['Lovelace', 'van Dam', 'Li'], n),
    email: `${n % 500 === 11 ? 'special' : 'user'}_${n}@${pick(['example.com', 'example.org'], n)}`,
    phone: `97250${String(1_000_000 + n)}`,
    customerId: `Cust-${n.toString(36).toUpperCase()}`,
    tags: [...(n % 1000 === 3 ? ['rare'] : []), ...(n % 2 === 0 ? ['even'] : [])],
    stage: n % 7 === 0 ? 4 : n % 3,
    plan: pick(['pro', 5, true, '5 "euro"', 'PRO'], n),
  }))
}

async function add(businessId: string, people: Person[]): Promise<void> {
  await stack.sql`
    with x as (
      select * from json_to_recordset(${JSON.stringify(people)}::text::json) as x (id uuid, "createdAt" bigint,
        "firstName" text, "lastName" text, email text, phone text, "customerId" text, tags json, stage smallint, plan json)
    ), made as (
      insert into contacts (business_id, id, created_at, keyed, first_name, last_name, tags, stage, traits)
      select ${businessId}, id, "createdAt", true, "firstName", "lastName", array(select json_array_elements_text(tags)), stage,
        json_build_object('plan', json_build_array(1, plan::text))
      from x
    )
    insert into identities (business_id, kind, value, contact_id, proven, phone_read)
    select ${businessId}, kind, value, id, true, kind = 'phone'
    from x cross join lateral (values ('email', email), ('phone', phone), ('platformCustomerId', "customerId")) as i (kind, value)`
}

/** Active segments, with members as saves write them. */
const SEGMENTS = {
  few: crypto.randomUUID(),
  /** Too many to be collected and sorted. */
  many: crypto.randomUUID(),
  computing: crypto.randomUUID(),
}
const isIn = (segment: string | null, place: number): boolean =>
  segment === null || (segment === SEGMENTS.few && place % 37 === 0) || (segment === SEGMENTS.many && place % 3 === 0)

async function addSegments(businessId: string, people: Person[]): Promise<void> {
  const numbers = { [SEGMENTS.few]: 1, [SEGMENTS.many]: 2, [SEGMENTS.computing]: 3 }
  for (const [id, no] of Object.entries(numbers)) {
    const state = id === SEGMENTS.computing ? 'building' : 'current'
    await stack.sql`
      insert into segment_rules (business_id, no, segment_id, version, rule, state) values (${businessId}, ${no}, ${id}, 1, '{}', ${state})`
    const members = people.filter((_, place) => state === 'building' || isIn(id, place)).map((one) => one.id)
    await stack.sql`
      insert into segment_members (business_id, contact_id, segment_no, since, cause)
      select ${businessId}, value::uuid, ${no}, 1, 'live' from json_array_elements_text(${JSON.stringify(members)}::text::json)`
  }
  // Members whose contacts do not exist, so that there are too many to collect.
  await stack.sql`
    insert into segment_members (business_id, contact_id, segment_no, since, cause)
    select ${businessId}, gen_random_uuid(), 2, 1, 'live' from generate_series(1, 20000)`
}

async function walk(businessId: string, filter: ContactFilter, limit: number): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page = await listContacts(stack.sql, { businessId, currency: 'USD', limit, cursor, filter })
    if (page === null) throw new Error('the cursor was refused')
    expect(page.contacts.length).toBeLessThanOrEqual(limit)
    ids.push(...page.contacts.map(({ contactId }) => contactId))
    cursor = page.nextCursor
  } while (cursor !== null)
  return ids
}

function expected(people: Person[], { query, tag, stage, segment, field }: ContactFilter): string[] {
  const sought = query?.toLowerCase() ?? ''
  const digits = /^[+\d\s().-]+$/.test(sought) ? sought.replaceAll(/\D/g, '').replace(/^0+/, '') : ''
  const matches = (one: Person): boolean => {
    const name = `${one.firstName ?? ''} ${one.lastName ?? ''}`.toLowerCase()
    const values = [one.email, one.phone, one.customerId].map((value) => value.toLowerCase())
    const isPhone = digits.length > 2 && values.some((value) => value.includes(digits))
    return sought.length < 3
      ? isPhone || name.startsWith(sought) || name.includes(` ${sought}`) || values.some((v) => v.startsWith(sought))
      : isPhone || name.includes(sought) || values.some((value) => value.includes(sought))
  }
  return people
    .filter((_, place) => isIn(segment, place))
    .filter((one) => query === null || matches(one))
    .filter((one) => (tag === null || one.tags.includes(tag)) && (stage === null || one.stage === stage))
    .filter((one) => field === null || (field.key === 'plan' && String(one.plan) === field.value))
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.id > b.id ? -1 : 1))
    .map(({ id }) => id)
}

const queries = fc.oneof(
  fc.constantFrom(
    'rare',
    'RARE7',
    'special_',
    'lovel',
    'ada love',
    'van',
    'O_O',
    '0%',
    'k\\S',
    'ömer',
    'Ö',
    'li',
    'l',
    '%',
    '_',
  ),
  fc.constantFrom(
    'user_39',
    'cust-2',
    'T-2F',
    'example.org',
    'exämple',
    '@',
    '+972 50-100',
    '050 1001',
    '1002',
    'zzz',
    "o'",
  ),
  fc
    .string({ minLength: 1, maxLength: 4 })
    .filter((text) => text.trim() === text && text !== '' && !text.includes('\0')),
)
const filters = fc.record({
  query: fc.option(queries),
  tag: fc.option(fc.constantFrom('even', 'rare', 'none'), { freq: 3 }),
  stage: fc.option(fc.constantFrom(0, 3, 4), { freq: 3 }),
  segment: fc.option(fc.constantFrom(...Object.values(SEGMENTS), crypto.randomUUID()), { freq: 2 }),
  field: fc.option(
    fc.record({
      key: fc.constantFrom('plan', 'plan', 'plan', 'other'),
      value: fc.constantFrom('pro', '5', 'true', '5 "euro"', 'none'),
    }),
    { freq: 2 },
  ),
})

async function expectSame(businessId: string, people: Person[]): Promise<void> {
  const check = async (filter: ContactFilter, limit: number) => {
    expect(await walk(businessId, filter, limit)).toEqual(expected(people, filter))
  }
  for (const segment of [null, ...Object.values(SEGMENTS)]) await check({ ...EVERYBODY, segment }, 500)
  await fc.assert(fc.asyncProperty(filters, fc.constantFrom(100, 499, 500), check), { numRuns: runs(10) })
}

test('all pages together list every contact that matches, newest first, with the indexes and without', async () => {
  const [business, other] = [crypto.randomUUID(), crypto.randomUUID()]
  const people = makePeople()
  await add(business, people)
  await addSegments(business, people)
  await add(
    other,
    people.slice(0, 50).map((one) => ({ ...one, id: crypto.randomUUID() })),
  )
  await expectSame(business, people)
  await stack.sql`drop index identities_search, contacts_search`
  await expectSame(business, people)
})

test('no contact is left out or listed twice while contacts are made, merged and erased', async () => {
  const business = crypto.randomUUID()
  const spare = makePeople()
  const people = spare.splice(0, 300)
  await add(business, people)
  const gone = new Set<string>()
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof listContacts>> = await listContacts(stack.sql, {
      businessId: business,
      currency: 'USD',
      limit: 7,
      cursor,
      filter: EVERYBODY,
    })
    seen.push(...(page?.contacts.map(({ contactId }) => contactId) ?? []))
    cursor = page?.nextCursor ?? null
    const [merged, erased] = people.filter(({ id }) => !gone.has(id)).slice(-30, -28)
    await stack.sql`update contacts set merged_into = ${people[0]!.id} where business_id = ${business} and id = ${merged?.id ?? null}`
    await stack.sql`delete from contacts where business_id = ${business} and id = ${erased?.id ?? null}`
    for (const one of [merged, erased]) if (one) gone.add(one.id)
    await add(business, [{ ...spare.pop()!, createdAt: T0 + 10_000 + seen.length }])
  } while (cursor !== null)
  expect(new Set(seen).size).toBe(seen.length)
  const missed = people.filter(({ id }) => !gone.has(id) && !seen.includes(id))
  expect(missed).toEqual([])
  const strangers = new Set(people.map(({ id }) => id))
  expect(seen.every((id) => strangers.has(id))).toBe(true)
})

test('a cursor that is not of this list is refused', async () => {
  for (const cursor of ['', 'x', `1_${crypto.randomUUID()}x`, `${'9'.repeat(16)}_${crypto.randomUUID()}`]) {
    const page = { businessId: crypto.randomUUID(), currency: 'USD', limit: 1, cursor, filter: EVERYBODY }
    expect(await listContacts(stack.sql, page)).toBeNull()
  }
})

test.each<[string, Partial<ContactFilter>]>([
  ['a tag', { tag: 'rare' }],
  ['a tag of nobody', { tag: 'none' }],
  ['a stage', { stage: 3 }],
  ['a tag, and a text that many have', { tag: 'rare', query: 'example' }],
])('%s that few contacts have is found by its index', async (_, filter) => {
  const business = crypto.randomUUID()
  const people = makePeople().map((one, n) => ({ ...one, stage: n % 1000 === 5 ? 3 : 0 }))
  await add(business, people)
  const page = { businessId: business, currency: 'USD', limit: 50, cursor: null, filter: { ...EVERYBODY, ...filter } }
  const { result, scans } = await readsOf((sql) => listContacts(sql, page))
  expect(result?.contacts.map(({ contactId }) => contactId)).toEqual(expected(people, page.filter))
  expect(result?.nextCursor).toBeNull()
  expect(scans).toBe(1)
})

test.each<[string, Partial<ContactFilter>]>([
  ['a tag', { tag: 'even' }],
  ['a stage', { stage: 2 }],
])('%s that half of the contacts have is read no further than a page shows', async (_, one) => {
  const business = crypto.randomUUID()
  const people = makePeople().map((person, n) => ({ ...person, stage: n % 2 === 0 ? 2 : 0 }))
  await add(business, people)
  const filter = { ...EVERYBODY, ...one }
  const page = { businessId: business, currency: 'USD', limit: 50, cursor: null, filter }
  const listed = await readsOf((sql) => listContacts(sql, page))
  expect(listed.result?.contacts.map(({ contactId }) => contactId)).toEqual(expected(people, filter).slice(0, 50))
  expect(listed.entries).toBeLessThan(200)
  const counted = await readsOf((sql) => countContacts(sql, business, filter))
  expect(counted.result).toEqual({ count: 3000, kind: 'exact' })
  expect(counted.entries).toBeLessThanOrEqual(one.tag === undefined ? 3000 : 0)
  // Few of them have the field as well.
  const both = { ...filter, field: { key: 'plan', value: 'none' } }
  const none = await readsOf((sql) => listContacts(sql, { ...page, filter: both }))
  expect(none.result).toEqual({ contacts: [], nextCursor: null })
  expect(none.entries).toBeLessThanOrEqual(one.tag === undefined ? 3000 : 0)
})

/**
 * Returns the scans of the indexes of tags and stages during a call, and the number of entries that the call has read.
 */
async function readsOf<Result>(call: (sql: typeof stack.sql) => Promise<Result>) {
  const sql = await stack.sql.reserve()
  const reads = async () => {
    await sql`select pg_stat_force_next_flush()`
    const [row] = await sql<[{ scans: number; entries: number }]>`
      select sum(idx_scan)::float8 as scans, sum(idx_tup_read)::float8 as entries from pg_stat_user_indexes
      where indexrelname in ('contacts_by_tag', 'contacts_by_stage')`
    return row
  }
  try {
    const before = await reads()
    const result = await call(sql)
    const after = await reads()
    return { result, scans: after.scans - before.scans, entries: after.entries - before.entries }
  } finally {
    sql.release()
  }
}

test('an event that changes neither tags nor stage of a known contact changes no index of the list', async () => {
  const business = crypto.randomUUID()
  await add(business, makePeople().slice(0, 20))
  // Each page has space for all versions of its rows, so that only the indexes can prevent updates in place.
  await stack.sql`alter table contacts set (fillfactor = 10)`
  await stack.sql`vacuum full contacts`
  const counts = async () => {
    await stack.sql`select pg_stat_force_next_flush()`
    const [row] = await stack.sql<{ updated: number; hot: number }[]>`
      select n_tup_upd as updated, n_tup_hot_upd as hot from pg_stat_user_tables where relname = 'contacts'`
    return row!
  }
  const before = await counts()
  for (let i = 0; i < 5; i += 1)
    await stack.sql`update contacts set order_count = order_count + 1, stage = stage, traits = traits || '{"x": [1, "2"]}', revision = revision + 1
      where business_id = ${business}`
  const after = await counts()
  expect([after.updated - before.updated, after.hot - before.hot]).toEqual([100, 100])
})
