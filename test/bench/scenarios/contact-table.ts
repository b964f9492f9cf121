import type { Bench } from '../bench.ts'
import type { Measured } from '../measure.ts'
import type { Stack } from '../stack.ts'
import { CROWD } from './saturation.ts'
import { type Scenario, rounded } from './scenario.ts'

const SIZES = [10_000, 1_000_000, 5_000_000]
const GROWTH = 0.25
const CHUNK_ROWS = 250_000
const PREFIX = 'table-'

export const contactTable: Scenario = {
  name: 'contact-table',
  title: 'contact table of 10 thousand, 1 million, 5 million',
  cold: true,
  async run(bench) {
    const goal = 'CPU an event grows by less than 25 %'
    if (bench.quick) return { checks: [{ goal, figure: 'not in the short form: filling takes minutes', met: null }] }
    const measured = await measureAnew(bench)
    const costs = Object.values(measured).map(({ cpuTotal }) => cpuTotal)
    const growth = (costs.at(-1) ?? 0) / (costs[0] ?? 1) - 1
    const figure = `${costs.map(rounded).join(', ')} µs an event: ${rounded(growth * 100)} %`
    return { checks: [{ goal, figure, met: growth < GROWTH }], measured }
  },
}

/** Measures on an empty database, because earlier scenarios have left contacts. */
async function measureAnew(bench: Bench): Promise<Record<string, Measured>> {
  const fresh = await bench.openAnother()
  try {
    const one = await fresh.openCallers({ kind: 'one-contact', prefix: 'warm-' })
    await fresh.send([one, { ...CROWD, seconds: 15 }])
    return await measureSizes(fresh)
  } finally {
    await fresh.close()
  }
}

/** For each size, adds the missing contacts in a new business, which then sends. */
async function measureSizes(bench: Bench): Promise<Record<string, Measured>> {
  const measured: Record<string, Measured> = {}
  for (const size of SIZES) {
    const people = size - (await countContacts(bench.stack))
    const callers = await bench.openCallers({ kind: 'known', prefix: PREFIX, people })
    await fill(bench.stack, callers.businessIds[0] ?? '', people)
    await bench.send([callers, { ...CROWD, seconds: 5 }])
    measured[`${size.toLocaleString('en')} contacts`] = await bench.send([callers, { ...CROWD, seconds: 20 }])
  }
  return measured
}

async function countContacts({ own: { sql } }: Stack): Promise<number> {
  const [row] = await sql<[{ contacts: number }]>`select count(*)::float8 as contacts from contacts`
  return row.contacts
}

/**
 * Creates people as their first event would have left them. The event itself is not counted, so that later counts are
 * those of the load. Then does the work of autovacuum, which must not happen during the measurement.
 */
async function fill({ own: { sql } }: Stack, businessId: string, people: number): Promise<void> {
  for (let from = 0; from < people; from += CHUNK_ROWS)
    await fillStep(sql, businessId, from, Math.min(people, from + CHUNK_ROWS))
  for (const table of ['contacts', 'identities', 'event_statistics']) await sql`vacuum (analyze) ${sql(table)}`
  await sql`checkpoint`
}

async function fillStep(sql: Stack['own']['sql'], businessId: string, from: number, to: number): Promise<void> {
  await sql`
    with people as materialized (
      select n, uuidv7() as id from generate_series(${from}::int, ${to - 1}::int) as n
    ),
    made as (
      insert into contacts (business_id, id, created_at, keyed)
      select ${businessId}, id, 1767225600000, true from people
    ),
    known as (
      insert into identities (business_id, kind, value, contact_id, proven)
      select ${businessId}, 'email', ${PREFIX} || n || '@example.com', id, true from people
    )
    insert into event_statistics (business_id, contact_id, event, first_at, last_at, count)
    select ${businessId}, id, 'signup', 1767225600000, 1767225600000, 0 from people`
}
