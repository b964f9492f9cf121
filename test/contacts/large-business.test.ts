/** What is done to one person costs the same in a large business, also in one that the statistics of Postgres do not know yet. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readContact } from '../../src/contacts/read-contact.ts'
import { resolveContact } from '../../src/contacts/resolve-contact.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'

/** Their identities alone fill some 500 pages, with the index. */
const PEOPLE = 20_000
const MOST_PAGES = 200
let stack: Stack
let businessId: string
beforeAll(async () => {
  stack = await openStack()
  const { businessId: known } = await createBusiness(stack.sql)
  await fill(stack.sql, known)
  await stack.sql`analyze`
  ;({ businessId } = await createBusiness(stack.sql))
  await fill(stack.sql, businessId)
})
afterAll(() => stack.close())

async function fill(sql: Sql, business: string): Promise<void> {
  await sql`
    with made as (
      insert into contacts (business_id, id, created_at, keyed)
        select ${business}, gen_random_uuid(), n, true from generate_series(1, ${PEOPLE}::integer) n returning id, created_at
    ),
    counted as (
      insert into event_statistics (business_id, contact_id, event, first_at, last_at, count)
        select ${business}, id, 'e', 1, 1, 1 from made
    )
    insert into identities (business_id, kind, value, contact_id, proven)
      select ${business}, 'email', created_at || '@x.io', id, true from made`
}

type Explained = [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }]

it.each([
  { what: 'a merge', statement: 'merge_contacts($1::uuid, array[$2::uuid], array[$3::uuid])' },
  { what: 'an erasure', statement: 'erase_contact($1::uuid, $2::uuid), $3::uuid' },
])('$what reads few pages', async ({ statement }) => {
  const session = await stack.sql.reserve()
  try {
    const people = await session<{ id: string }[]>`
      select id from contacts where business_id = ${businessId} and merged_into is null limit 4`
    const pages = async (one: number, other: number) => {
      const [row] = await session.unsafe<[{ 'QUERY PLAN': Explained }]>(
        `explain (analyze, buffers, format json) select ${statement}`,
        [businessId, people[one]?.id ?? '', people[other]?.id ?? ''],
      )
      const [{ Plan: plan }] = row['QUERY PLAN']
      return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    }
    // The first plans the statements, and reads what Postgres knows of its tables.
    await pages(0, 1)
    expect(await pages(2, 3)).toBeLessThan(MOST_PAGES)
  } finally {
    session.release()
  }
})

it.each([
  {
    what: 'reading a contact',
    read: (sql: Sql, contactId: string) => readContact(sql, { businessId, contactId, currency: 'USD' }),
  },
  { what: 'resolving its id', read: (sql: Sql, contactId: string) => resolveContact(sql, businessId, contactId) },
])('$what leaves the others alone', async ({ read }) => {
  const [known] = await stack.sql<[{ id: string }]>`select id from contacts where business_id = ${businessId} limit 1`
  const fetched = await stack.sql.begin(async (transaction) => {
    const count = () => transaction<[{ contacts: number }]>`
      select idx_tup_fetch as contacts from pg_stat_xact_user_tables where relname = 'contacts'`
    const [before] = await count()
    await read(transaction as unknown as Sql, known.id)
    const [after] = await count()
    return after.contacts - before.contacts
  })
  expect(fetched).toBeLessThan(10)
})
