// @long
/**
 * Data that was altered in Postgres is distinguished from data that ClickHouse lost, and is corrected from the other
 * records.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { correctPostgres } from '../../src/admin/verify/correct-postgres.ts'
import { diagnosePostgres } from '../../src/admin/verify/diagnose-postgres.ts'
import { hashKey } from '../../src/contacts/load/collect-lookups.ts'
import { NOW, batch, eventFact, identifyFact } from '../support/facts.ts'
import { makePeople, openVerifyLab, type People, type VerifyResult, type VerifyLab } from './verify-lab.ts'

interface Damage {
  what: string
  done(people: People): Promise<unknown>
  found: Record<string, number>
  /** For each difference, the store that is reported as wrong. */
  wrong: (string | undefined)[]
}

let lab: VerifyLab
const businesses = new Map<string, People>()
const before = new Map<string, unknown>()
const verdicts: { damaged?: VerifyResult; repaired?: VerifyResult; after?: VerifyResult } = {}

/** Returns all data that is compared here, without the versions that a repair increases. */
async function stateOf({ businessId }: People): Promise<unknown> {
  const { sql } = lab
  return {
    statistics: await sql`select contact_id, event, first_at, last_at, count from event_statistics
      where business_id = ${businessId} order by 1, 2`,
    revenue: await sql`select contact_id, currency, trim_scale(amount)::text as amount from revenue
      where business_id = ${businessId} and amount <> 0 order by 1, 2`,
    orders: await sql`select id, order_count from contacts where business_id = ${businessId} order by 1`,
    identities: await sql`select contact_id, kind, value, proven, phone_read,
        rank() over (partition by contact_id, kind order by proven desc, is_primary desc, position) as place
      from identities where business_id = ${businessId} order by 1, 2, place`,
    keys: await sql`select key_hash, contact_id, occurred_at from idempotency_keys where business_id = ${businessId} order by 1`,
  }
}

beforeAll(async () => {
  lab = await openVerifyLab()
  for (const { what } of DAMAGE) {
    const people = await makePeople(lab)
    const ann = { email: 'ann@x.io' }
    // A second address of each kind, because the lost one may be the primary one or not.
    await lab.pipeline.batch(
      batch(people.businessId, [
        eventFact('lesson', { ...ann, phone: '15550000001', platformCustomerId: 'C-1' }),
        eventFact('lesson', { email: 'ann@work.example', platformCustomerId: 'C-1' }),
      ]),
    )
    if (what === NAMED)
      for (const email of ['ann@x.io', 'ann@work.example'])
        await lab.pipeline.apply({
          kind: 'identify',
          businessId: people.businessId,
          receivedAt: NOW,
          keyed: true,
          makesPrimary: true,
          fact: identifyFact({ email }),
        })
    businesses.set(what, people)
  }
  await lab.shipped()
  for (const { what } of DAMAGE) before.set(what, await stateOf(businesses.get(what)!))
  for (const { what, done } of DAMAGE) await done(businesses.get(what)!)
  verdicts.damaged = await lab.verify()
  if (verdicts.damaged.error) throw new Error(verdicts.damaged.error.message)
  verdicts.repaired = await lab.verify('--repair')
  verdicts.after = await lab.verify()
}, 480_000)
afterAll(() => lab?.close())

const alter = (change: (sql: VerifyLab['sql'], people: People) => Promise<unknown>) => (people: People) =>
  change(lab.sql, people)

const NAMED = 'the primary email lost that was named last, while one that was named before stays primary'

const DAMAGE: Damage[] = [
  {
    what: 'a count raised',
    done: alter(
      (sql, { ann }) =>
        sql`update event_statistics set count = count + 5 where contact_id = ${ann} and event = 'lesson'`,
    ),
    found: { events: 1, statistics: 1 },
    wrong: ['postgres', 'postgres'],
  },
  {
    what: 'a count lowered, and its first time moved',
    done: alter(
      (sql, { ann }) => sql`
      update event_statistics set count = 1, first_at = last_at where contact_id = ${ann} and event = 'lesson'`,
    ),
    found: { events: 1, statistics: 1 },
    wrong: ['postgres', 'postgres'],
  },
  {
    what: 'a statistic deleted',
    done: alter((sql, { ann }) => sql`delete from event_statistics where contact_id = ${ann} and event = 'purchase'`),
    found: { events: 1, statistics: 1 },
    wrong: ['postgres', 'postgres'],
  },
  {
    what: 'a statistic made up',
    done: alter(
      (sql, { ann, businessId }) => sql`
      insert into event_statistics (business_id, contact_id, event, first_at, last_at, count) values (${businessId}, ${ann}, 'never', 1, 2, 3)`,
    ),
    found: { events: 1, statistics: 1 },
    wrong: ['postgres', 'postgres'],
  },
  {
    what: 'revenue and orders altered',
    done: alter(async (sql, { ann }) => {
      await sql`update revenue set amount = amount + 1000 where contact_id = ${ann} and currency = 'USD'`
      await sql`update contacts set order_count = 99 where id = ${ann}`
    }),
    found: { revenue: 1, orders: 1, contact: 1 },
    wrong: ['postgres', 'postgres', 'postgres'],
  },
  {
    what: 'the primary email lost',
    done: alter((sql, { ann }) => sql`delete from identities where contact_id = ${ann} and value = 'ann@x.io'`),
    found: { contact: 1 },
    wrong: ['postgres'],
  },
  {
    what: NAMED,
    done: alter(async (sql, { ann }) => {
      await sql`delete from identities where contact_id = ${ann} and value = 'ann@work.example'`
      await sql`update identities set is_primary = true where contact_id = ${ann} and kind = 'email' and named is not null`
    }),
    found: { contact: 1 },
    wrong: ['postgres'],
  },
  {
    what: 'all identities lost',
    done: alter((sql, { ann }) => sql`delete from identities where contact_id = ${ann}`),
    found: { contact: 1 },
    wrong: ['postgres'],
  },
  {
    what: 'an idempotency key lost',
    done: alter(
      (sql, { businessId }) => sql`
      delete from idempotency_keys where business_id = ${businessId} and key_hash = ${hashKey('k')}::uuid`,
    ),
    found: { key: 1 },
    wrong: ['postgres'],
  },
  {
    what: 'an event and its statistics lost in ClickHouse, which the outbox still holds',
    done: async ({ bob }) => {
      await lab.damage(`alter table events delete where contact_id = '${bob}'`)
      await lab.damage(`alter table event_statistics delete where contact_id = '${bob}'`)
    },
    found: { events: 1, statistics: 1 },
    wrong: [undefined, undefined],
  },
  {
    what: 'events lost in ClickHouse that the outbox does not hold any more',
    done: async ({ ann, businessId }) => {
      await lab.sql`delete from outbox where ${businessId}::uuid = any (business_ids)`
      await lab.damage(`alter table events delete where contact_id = '${ann}' and event = 'refund'`)
    },
    found: { events: 1, revenue: 1 },
    wrong: ['clickhouse', undefined],
  },
]

const differencesIn = (result: VerifyResult | undefined, what: string) =>
  result?.differences.filter(({ businessId }) => businessId === businesses.get(what)?.businessId) ?? []
const kindsIn = (result: VerifyResult | undefined, what: string) =>
  Object.fromEntries(
    [...Map.groupBy(differencesIn(result, what), ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]),
  )

test.each(DAMAGE)('found, and said which side is wrong: $what', ({ what, found, wrong }) => {
  expect(kindsIn(verdicts.damaged, what)).toEqual(found)
  expect(differencesIn(verdicts.damaged, what).map((one) => one.wrong)).toEqual(wrong)
})

const LOST = 'events lost in ClickHouse that the outbox does not hold any more'
test.each(DAMAGE)('Postgres is as it was: $what', async ({ what }) => {
  expect(await stateOf(businesses.get(what)!)).toEqual(before.get(what))
  // When ClickHouse has lost data for good, nothing is removed from Postgres, not even in later runs.
  if (what !== LOST) expect(kindsIn(verdicts.after, what)).toEqual({})
})

test('what was corrected is counted', () => {
  expect(verdicts.damaged).toMatchObject({ exitCode: 1, agree: false })
  expect(verdicts.repaired?.repaired).toMatchObject({ corrected: 8, keys: 1 })
})

test('a contact that changes before it is corrected is left alone, and corrected by the next run', async () => {
  const people = await makePeople(lab)
  await lab.shipped()
  await lab.sql`update event_statistics set count = 50 where contact_id = ${people.ann} and event = 'lesson'`
  const deps = { ...lab, signal: new AbortController().signal, showStatus: () => undefined }
  const different = {
    subject: 'contact' as const,
    businessId: people.businessId,
    id: people.ann,
    isKnown: true,
    facts: (['events', 'statistics'] as const).map((kind) => ({
      kind,
      name: 'lesson',
      postgres: '50 1 1',
      clickhouse: '2 5 9',
    })),
  }
  const [correction] = await diagnosePostgres(deps, [different])
  expect(correction?.statistics).toEqual([{ event: 'lesson', value: '2 5 9' }])
  await lab.sql`update contacts set revision = revision + 1 where id = ${people.ann}`
  expect(await correctPostgres(lab.sql, people.businessId, [correction!])).toEqual([])
  await lab.sql`update contacts set revision = revision - 1 where id = ${people.ann}`
  expect(await correctPostgres(lab.sql, people.businessId, [correction!])).toEqual([people.ann])
})
