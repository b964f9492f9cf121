/** Each row shows its spend and its revenue, as in a short calculation over the same rows. */
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type AttributionRow, MAX_ATTRIBUTION_ROWS } from '../../src/analytics/attribution.ts'
import { startOfDate } from '../../src/analytics/buckets.ts'
import { addSpend } from '../../src/analytics/return-on-spend.ts'
import type { SpendRow } from '../../src/analytics/spend-row.ts'
import { deleteSpend, listSpend, saveSpend } from '../../src/analytics/spend.ts'
import { runs } from '../support/runs.ts'
import { openStack } from '../support/stack.ts'
import { BEGAN, ZONES, near } from './history.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

const DAY = 86_400_000
const actor = { kind: 'user', id: 'u1', name: 'ann@x.io' } as const
const CHANNELS = ['email', 'paid_search'] as const
const SOURCES = ['', 'google', 'Google', "it's"]
const CURRENCIES = ['USD', 'EUR'] as const

const spendRow = fc.record({
  day: fc.nat(9).map((one) => new Date(BEGAN + one * DAY).toISOString().slice(0, 10)),
  channel: fc.constantFrom(...CHANNELS),
  source: fc.constantFrom(...SOURCES),
  campaign: fc.constantFrom('', 'spring'),
  currency: fc.constantFrom(...CURRENCIES),
  /** In hundredths of a cent. */
  parts: fc.oneof(fc.constant(0), fc.nat(99_999_999)),
})
const rowOf = ({ parts, ...row }: { parts: number } & Omit<SpendRow, 'amount'>): SpendRow => ({
  ...row,
  amount: `${Math.floor(parts / 10_000)}.${String(parts % 10_000).padStart(4, '0')}`,
})

const empty = { channel: null, source: null, medium: null, campaign: null, landingPage: null }
const brought = (name: 'channel' | 'source' | 'campaign', key: string, currency: string | null, revenue: number) =>
  ({ ...empty, [name]: key, currency, revenue, refunds: 0, orders: 1, conversions: 1, contacts: 1 }) as AttributionRow
const KEYS = { channel: ['unknown', ...CHANNELS], source: [...SOURCES, 'other'], campaign: ['', 'spring', 'other'] }

it('is the sum of the days that begin in the time range, by what the rows are made by and by currency', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(spendRow, { maxLength: 30, selector: ({ parts: _, ...key }) => JSON.stringify(key) }),
      fc.constantFrom('channel' as const, 'source' as const, 'campaign' as const),
      fc.constantFrom(...ZONES),
      fc.array(fc.tuple(fc.nat(4), fc.constantFrom(...CURRENCIES, null), fc.integer({ min: -50, max: 500 })), {
        maxLength: 6,
      }),
      fc.tuple(fc.nat(10 * 24 * 60), fc.nat(10 * 24 * 60)),
      fc.boolean(),
      async (sent, by, timezone, seeds, minutes, isRepeated) => {
        const businessId = randomUUID()
        const rows = sent.map(rowOf)
        await saveSpend(stack.sql, { businessId, actor }, rows)
        if (isRepeated)
          expect(await saveSpend(stack.sql, { businessId, actor }, rows)).toEqual({ added: 0, changed: 0 })
        const [from, to] = minutes.toSorted((one, other) => one - other).map((one) => BEGAN + one * 60_000) as [
          number,
          number,
        ]
        const found = new Map<string, AttributionRow>(
          seeds.map(([place, currency, revenue]) => {
            const key = KEYS[by][place % KEYS[by].length]!
            return [`${key} ${currency}`, brought(by, key, currency, revenue)] as [string, AttributionRow]
          }),
        )
        const before = [...found.values()].toSorted((one, other) => other.revenue - one.revenue)

        const spent = new Map<string, number>()
        for (const { day, parts, currency, ...row } of sent) {
          const start = startOfDate(day, timezone)!
          if (start < from || start >= to || parts === 0) continue
          const key = `${row[by]} ${currency}`
          spent.set(key, (spent.get(key) ?? 0) + parts)
        }
        const query = { businessId, model: 'last', by, from, to } as const
        const after = await addSpend(stack.sql, query, timezone, { rows: before, truncated: false })
        const keyOf = (row: AttributionRow): string => `${row[by]} ${row.currency}`
        expect(new Set(after.rows.map(keyOf))).toEqual(new Set([...found.keys(), ...spent.keys()]))
        expect(after.rows.length).toBe(new Set([...found.keys(), ...spent.keys()]).size)
        expect(after.truncated).toBe(false)
        for (const { spend, returnOnSpend, ...row } of after.rows) {
          const amount = (spent.get(keyOf(row)) ?? 0) / 10_000
          expect(spend).toEqual(near(amount, 6))
          expect(returnOnSpend).toEqual(amount === 0 ? null : near(row.revenue / amount, 6))
          expect(row).toEqual(found.get(keyOf(row)) ?? { ...brought(by, row[by]!, row.currency, 0), ...NOTHING })
        }
        const revenues = after.rows.map(({ revenue }) => revenue)
        expect(revenues).toEqual(revenues.toSorted((one, other) => other - one))
      },
    ),
    { numRuns: runs(150) },
  )
})
const NOTHING = { refunds: 0, orders: 0, conversions: 0, contacts: 0 }

it('is not answered for what spend has no word for', async () => {
  const businessId = randomUUID()
  await saveSpend(stack.sql, { businessId, actor }, [rowOf({ ...ONE, day: '2024-10-05' })])
  for (const by of ['touch', 'landing_page'] as const) {
    const query = { businessId, model: 'last', by, from: BEGAN, to: BEGAN + 5 * DAY } as const
    const row = brought('channel', 'email', 'USD', 5)
    expect(await addSpend(stack.sql, query, 'UTC', { rows: [row], truncated: false })).toEqual({
      rows: [{ ...row, spend: null, returnOnSpend: null }],
      truncated: false,
    })
  }
})
const ONE = { channel: 'email', source: '', campaign: '', currency: 'USD', parts: 10_000 } as const

it('adds no more rows than an answer has, and says that there are more', async () => {
  const businessId = randomUUID()
  const spend = Array.from({ length: MAX_ATTRIBUTION_ROWS }, (_, n) =>
    rowOf({ ...ONE, day: '2024-10-05', source: `s${n}`, parts: n + 1 }),
  )
  await saveSpend(stack.sql, { businessId, actor }, spend)
  const query = { businessId, model: 'last', by: 'source', from: BEGAN, to: BEGAN + 5 * DAY } as const
  const read = (rows: AttributionRow[], truncated = false) => addSpend(stack.sql, query, 'UTC', { rows, truncated })
  const all = await read([])
  expect([all.rows.length, all.truncated, all.rows[0]?.source]).toEqual([MAX_ATTRIBUTION_ROWS, false, 's999'])
  // One more row, so that the smallest spend does not fit.
  const more = await read([brought('source', 'other', 'USD', 5), brought('source', 's0', null, 0)])
  expect([more.rows.length, more.truncated]).toEqual([MAX_ATTRIBUTION_ROWS, true])
  expect(more.rows.filter(({ source }) => source === 's0').map(({ currency }) => currency)).toEqual([null])
  const cut = await read([brought('source', 's7', 'USD', 5)], true)
  expect(cut).toMatchObject({ rows: [{ source: 's7', spend: 0.0008 }], truncated: true })
  expect(cut.rows.length).toBe(1)
})

it('is nothing before the first day there is, and all up to the last one', async () => {
  const businessId = randomUUID()
  await saveSpend(stack.sql, { businessId, actor }, [
    rowOf({ ...ONE, day: '1900-01-01' }),
    rowOf({ ...ONE, day: '2299-12-31' }),
  ])
  const read = async (from: string, to: string) => {
    const query = { businessId, model: 'last', by: 'channel', from: Date.parse(from), to: Date.parse(to) } as const
    return (await addSpend(stack.sql, query, 'UTC', { rows: [], truncated: false })).rows.map(({ spend }) => spend)
  }
  expect(await read('0001-01-01', '1900-01-01')).toEqual([])
  expect(await read('0001-01-01', '1900-01-01T00:00:00.001Z')).toEqual([1])
  expect(await read('1900-01-01', '9999-12-31T23:59:59.999Z')).toEqual([2])
})

it('calls at once save each row once, and the count stays that of the rows', async () => {
  const businessId = randomUUID()
  const rows = Array.from({ length: 50 }, (_, n) => rowOf({ ...ONE, day: '2024-10-05', source: `s${n}` }))
  const saved = await Promise.all(
    [rows, rows.toReversed(), rows.slice(0, 30), rows.slice(20)].map((some) =>
      saveSpend(stack.sql, { businessId, actor }, some),
    ),
  )
  const added = saved.reduce((sum, one) => sum + (one === 'limit_reached' ? 0 : one.added), 0)
  expect(added).toBe(50)
  const count = async () =>
    (await stack.sql<{ many: number }[]>`select many from ad_spend_counts where business_id = ${businessId}`)[0]?.many
  expect(await count()).toBe(50)
  await deleteSpend(stack.sql, { businessId, actor }, { from: '2024-10-05', to: '2024-10-06' })
  expect(await count()).toBe(0)
  const all = { businessId, from: '1900-01-01', to: '2300-01-01', before: null, limit: 10 }
  expect(await listSpend(stack.sql, all)).toEqual([])
})
