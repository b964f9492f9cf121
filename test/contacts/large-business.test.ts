/** Work on one person costs the same in a large business, even in one for which Postgres has no statistics yet. */
import { beforeAll, expect, it } from 'vitest'
import { readContact } from '../../src/contacts/read/read-contact.ts'
import { resolveContact } from '../../src/contacts/read/resolve-contact.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

/** The identities of this number of people fill about 500 pages, with the index. */
const PEOPLE = 20_000
const MOST_PAGES = 300
const stack = useOpened(openStack)
let businessId: string
beforeAll(async () => {
  const { businessId: known } = await createBusiness(stack.sql)
  await fill(stack.sql, known)
  await stack.sql`analyze`
  ;({ businessId } = await createBusiness(stack.sql))
  await fill(stack.sql, businessId)
})

/** Gives each person a row of every kind that a merge moves and an erasure deletes. */
async function fill(sql: Sql, business: string): Promise<void> {
  await sql`
    insert into destinations (business_id, id, kind, name, types, settings, secret)
      values (${business}, ${business}, 'webhook', 'd', '{purchase}', '{}', '')`
  await sql`
    with made as (
      insert into contacts (business_id, id, created_at, keyed)
        select ${business}, gen_random_uuid(), n, true from generate_series(1, ${PEOPLE}::integer) n returning id, created_at as n
    ),
    counted as (
      insert into event_statistics (business_id, contact_id, event, first_at, last_at, count)
        select ${business}, id, 'e', 1, 1, 1 from made
    ),
    earned as (insert into revenue (business_id, contact_id, currency, amount) select ${business}, id, 'USD', 1 from made),
    chosen as (
      insert into subscriptions (business_id, contact_id, channel, subscribed, method, recorded_at)
        select ${business}, id, 'email', true, 'form', 1 from made
    ),
    used as (
      insert into visitors (business_id, visitor_id, contact_id, current_contact_id, linked_at)
        select ${business}, md5(n::text), id, id, 1 from made
    ),
    listed as (
      insert into contact_visitors (business_id, contact_id, visitor_id, linked_at)
        select ${business}, id, md5(n::text), 1 from made
    ),
    -- Every other browser is of two.
    shared as (
      insert into contact_visitors (business_id, contact_id, visitor_id, linked_at)
        select ${business}, id, md5((n + 1)::text), 1 from made where n % 2 = 0
    ),
    touched as (
      insert into visitor_touches (business_id, visitor_id, digest, at, until, touch)
        select ${business}, md5(n::text), gen_random_uuid(), 1, 1, '{}' from made
    ),
    erased as (
      insert into erased_visits (business_id, visitor_id, from_at, to_at) select ${business}, md5(n::text), 0, 1 from made
    ),
    done as (
      insert into visitor_events (business_id, visitor_id, event_id, event, occurred_at, received_at, line)
        select ${business}, md5(n::text), gen_random_uuid(), 'e', 1, 1, '{}' from made
    ),
    linked as (
      insert into visitor_links (business_id, visitor_id, from_at, contact_id)
        select ${business}, md5(n::text), 0, id from made
    ),
    identified as (
      insert into identifications (business_id, contact_id, id, identified_at, keyed)
        select ${business}, id, gen_random_uuid(), 1, true from made
    ),
    enrolled as (
      insert into enrolments (business_id, id, campaign_id, contact_id, state, enrolled_at, received_at, ended_at)
        select ${business}, gen_random_uuid(), ${business}, id, 'finished', 1, 1, 1 from made
    ),
    queued as (
      insert into deliveries (business_id, id, destination_id, event_id, contact_id, event, type, occurred_at, clicks)
        select ${business}, gen_random_uuid(), ${business}, gen_random_uuid(), id, 'e', 'purchase', 1, '{}' from made
    ),
    logged as (
      insert into merge_log (business_id, id, action, contact_id, losing_id, evidence, recorded_at)
        select ${business}, gen_random_uuid(), 'moved', id, gen_random_uuid(), '[]', 1 from made
    )
    insert into identities (business_id, kind, value, contact_id, proven)
      select ${business}, 'email', n || '@x.io', id, true from made`
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
    // The first run plans the statements, and reads the catalogue entries of their tables.
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
