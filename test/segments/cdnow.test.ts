/**
 * Segments by recency, frequency and revenue over the purchases of CDNOW, including windowed counts and sums, equal a
 * short calculation over the file at several instants.
 */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Rule } from '../../src/rules/segments/rule.ts'
import { batch, eventFact } from '../support/facts.ts'
import { createBusiness } from '../support/stack.ts'
import { type TestSegment, insertSegment, sizeOf } from './segments-support.ts'
import { type World, openWorld } from './windows-support.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
/** The file with all purchases. It is not part of the repository. */
const WHOLE = at('../../../shared/data/cdnow.csv')
const SAMPLE = at('../end-to-end/fixtures/cdnow-sample.csv')
/** `npm test` uses the purchases of one customer in this number. */
const ONE_IN = Number(process.env['TEST_RUNS'] ?? 1) < 1 ? 34 : 1
const DAY = 86_400_000
const BATCH = 500

interface Customer {
  times: number[]
  /** The amount of each purchase, in cents. */
  amounts: number[]
  cents: number
}
type Holds = (customer: Customer, now: number) => boolean

const last = ({ times }: Customer) => Math.max(...times)
const first = ({ times }: Customer) => Math.min(...times)
const days = (many: number) => many * DAY
/** Returns the cents of each purchase in the last `many` days. */
const recent = ({ times, amounts }: Customer, now: number, many: number) =>
  amounts.filter((_, place) => times[place]! >= now - days(many))
const sum = (amounts: number[]) => amounts.reduce((total, one) => total + one, 0)

const purchase = (rest: object) => ({ event: 'purchase', ...rest }) as Rule
const SEGMENTS: Record<string, [rule: Rule, holds: Holds]> = {
  'bought in the last 30 days': [
    purchase({ metric: 'last', operator: 'within_days', value: 30 }),
    (customer, now) => last(customer) >= now - days(30),
  ],
  'bought in the last 90 days': [
    purchase({ metric: 'last', operator: 'within_days', value: 90 }),
    (customer, now) => last(customer) >= now - days(90),
  ],
  'has not bought for 180 days': [
    purchase({ metric: 'last', operator: 'older_than_days', value: 180 }),
    (customer, now) => last(customer) < now - days(180),
  ],
  'first bought in the last 365 days': [
    purchase({ metric: 'first', operator: 'within_days', value: 365 }),
    (customer, now) => first(customer) >= now - days(365),
  ],
  'bought at least 4 times': [
    purchase({ metric: 'count', operator: 'greater_than_or_equal', value: 4 }),
    ({ times }) => times.length >= 4,
  ],
  'bought once': [purchase({ metric: 'count', operator: 'equals', value: 1 }), ({ times }) => times.length === 1],
  'brought over 100': [{ attribute: 'revenue', operator: 'greater_than', value: 100 }, ({ cents }) => cents > 10_000],
  'brought 20 to 49.99': [
    { attribute: 'revenue', operator: 'between', value: ['20', '49.99'] },
    ({ cents }) => cents >= 2000 && cents <= 4999,
  ],
  'best: recent, often, much': [
    {
      all: [
        purchase({ metric: 'last', operator: 'within_days', value: 60 }),
        purchase({ metric: 'count', operator: 'greater_than', value: 3 }),
        { attribute: 'revenue', operator: 'greater_than_or_equal', value: '150.00' },
      ],
    },
    (customer, now) => last(customer) >= now - days(60) && customer.times.length > 3 && customer.cents >= 15_000,
  ],
  'lapsing: often, and 90 to 180 days ago': [
    {
      all: [
        purchase({ metric: 'count', operator: 'between', value: [2, 10] }),
        purchase({ metric: 'last', operator: 'older_than_days', value: 90 }),
        { not: purchase({ metric: 'last', operator: 'older_than_days', value: 180 }) },
      ],
    },
    (customer, now) =>
      customer.times.length >= 2 &&
      customer.times.length <= 10 &&
      last(customer) < now - days(90) &&
      last(customer) >= now - days(180),
  ],
  'began after February 1997, or orders by the dozen': [
    {
      any: [
        purchase({ metric: 'first', operator: 'after', value: '1997-02-28' }),
        { attribute: 'orderCount', operator: 'greater_than', value: 12 },
      ],
    },
    (customer) => first(customer) > Date.parse('1997-02-28') || customer.times.length > 12,
  ],
  'lost, but worth winning back': [
    {
      all: [
        { attribute: 'revenue', operator: 'greater_than', value: 200 },
        { any: [purchase({ metric: 'last', operator: 'older_than_days', value: 270.5 })] },
      ],
    },
    (customer, now) => customer.cents > 20_000 && last(customer) < now - 270.5 * DAY,
  ],
  'at least twice in 90 days': [
    purchase({ metric: 'count', withinDays: 90, operator: 'greater_than_or_equal', value: 2 }),
    (customer, now) => recent(customer, now, 90).length >= 2,
  ],
  'over 100 in a year': [
    purchase({ metric: 'sum', property: 'value', withinDays: 365, operator: 'greater_than', value: 100 }),
    (customer, now) => sum(recent(customer, now, 365)) > 10_000,
  ],
  'one of at least 50 in 180.5 days, and not often': [
    {
      all: [
        purchase({
          metric: 'count',
          withinDays: 180.5,
          where: [{ property: 'value', operator: 'greater_than_or_equal', value: 50 }],
          operator: 'equals',
          value: 1,
        }),
        { not: purchase({ metric: 'count', operator: 'greater_than', value: 6 }) },
      ],
    },
    (customer, now) =>
      recent(customer, now, 180.5).filter((amount) => amount >= 5000).length === 1 && customer.times.length <= 6,
  ],
}

/** By customer id. */
const customers = new Map<string, Customer>()
const rows = readRows()
let world: World
let businessId: string
const segments = new Map<string, TestSegment>()

function readRows(): { id: string; time: number; cents: number }[] {
  const [, ...lines] = readFileSync(existsSync(WHOLE) ? WHOLE : SAMPLE, 'utf8')
    .trim()
    .split('\n')
  const all = lines.map((line) => {
    const [id = '', day = '', , amount = ''] = line.split(',')
    return { id, time: Date.parse(day), cents: Number(amount.replace('.', '')) }
  })
  return all.filter(({ id }) => !existsSync(WHOLE) || Number(id) % ONE_IN === 0)
}

beforeAll(async () => {
  for (const { id, time, cents } of rows) {
    const customer = customers.get(id) ?? { times: [], amounts: [], cents: 0 }
    const { times, amounts } = customer
    customers.set(id, { times: [...times, time], amounts: [...amounts, cents], cents: customer.cents + cents })
  }
  world = await openWorld()
  ;({ businessId } = await createBusiness(world.stack.sql))
  for (const [name, [rule]] of Object.entries(SEGMENTS))
    segments.set(name, await insertSegment(world.stack.sql, businessId, rule))
})
afterAll(() => world.close())

async function readMembers(name: string): Promise<string[]> {
  const found = await world.stack.sql<{ id: string }[]>`
    select i.value as id from segment_members m
    join identities i on i.business_id = m.business_id and i.contact_id = m.contact_id
    where m.business_id = ${businessId} and m.segment_no = ${segments.get(name)!.no} order by i.value`
  return found.map(({ id }) => id)
}

async function expectExact(now: number): Promise<void> {
  for (const [name, [, holds]] of Object.entries(SEGMENTS)) {
    const expected = [...customers].flatMap(([id, customer]) => (holds(customer, now) ? [id] : [])).toSorted()
    expect(await readMembers(name), `${name} at ${new Date(now).toISOString()}`).toEqual(expected)
    expect(await sizeOf(world.stack.sql, businessId, segments.get(name)!)).toBe(expected.length)
  }
}

it('are exact after the import, and as time goes by', { timeout: 900_000 }, async () => {
  world.clock = Date.parse('1998-07-01T12:00:00.000Z')
  world.pipeline.deps.now = () => world.clock
  for (let from = 0; from < rows.length; from += BATCH) {
    const facts = rows
      .slice(from, from + BATCH)
      .map(({ id, time, cents }) =>
        eventFact('purchase', { platformCustomerId: id }, { occurredAt: time, value: cents / 100 }),
      )
    await world.pipeline.apply({ ...batch(businessId, facts), receivedAt: world.clock })
  }
  await world.follow()
  await expectExact(world.clock)
  for (const later of ['1998-07-02', '1998-08-14T00:00:00.001Z', '1998-12-31', '1999-06-30T23:59:59.999Z']) {
    await world.settle(Date.parse(later))
    await expectExact(world.clock)
  }
})
