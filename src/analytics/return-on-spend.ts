/** What was spent on what brought the revenue. */
import { amountToNumber } from '../rules/events/money.ts'
import type { Sql } from '../stores/postgres.ts'
import {
  type Attribution,
  type AttributionKey,
  type AttributionQuery,
  type AttributionRow,
  MAX_ATTRIBUTION_ROWS,
} from './attribution.ts'
import { dayFrom } from './buckets.ts'
import { SPEND_DAYS } from './spend-row.ts'
import { type SpendKeyName, type SpendSum, sumSpend } from './spend.ts'

/** `spend` is null where the rows are made by what spend does not have. */
export interface SpentRow extends AttributionRow {
  spend: number | null
  /** Revenue by spend; null without spend. */
  returnOnSpend: number | null
}

export interface Spent {
  /** Most revenue first. */
  rows: SpentRow[]
  truncated: boolean
}

/** Spend has neither a medium nor a landing page. */
const KEYS: Partial<Record<AttributionKey, SpendKeyName>> = {
  channel: 'channel',
  source: 'source',
  campaign: 'campaign',
}

/** Spend of a day counts when the day begins within the time. What was spent without any revenue has a row, too. */
export async function addSpend(
  sql: Sql,
  { businessId, by, from, to }: AttributionQuery,
  timezone: string,
  { rows, truncated }: Attribution,
): Promise<Spent> {
  const name = KEYS[by]
  if (name === undefined) return { rows: rows.map((row) => ({ ...row, spend: null, returnOnSpend: null })), truncated }
  const day = (at: number) => dayFrom(at, timezone, SPEND_DAYS)
  const sums = await sumSpend(sql, {
    businessId,
    by: name,
    from: day(from),
    to: day(to),
    keys: rows.flatMap((row) => (row.currency === null ? [] : [{ key: row[name] ?? '', currency: row.currency }])),
    // Those with revenue come first: when not all of these fit, neither do others.
    others: truncated ? 0 : MAX_ATTRIBUTION_ROWS + 1,
  })
  const amounts = new Map(sums.filter(({ isKnown }) => isKnown).map((sum) => [idOf(sum), amountToNumber(sum.amount)]))
  const spent = rows.map((row) => {
    const { currency } = row
    return withReturn(row, currency === null ? 0 : (amounts.get(idOf({ key: row[name] ?? '', currency })) ?? 0))
  })
  const others = sums
    .filter(({ isKnown }) => !isKnown)
    .map((sum) => withReturn(emptyRow(name, sum), Number(sum.amount)))
  // The sort is stable: of equal revenue, those that brought something come first.
  const all = [...spent, ...others].toSorted((one, other) => other.revenue - one.revenue)
  return { rows: all.slice(0, MAX_ATTRIBUTION_ROWS), truncated: truncated || all.length > MAX_ATTRIBUTION_ROWS }
}

const idOf = ({ key, currency }: Pick<SpendSum, 'key' | 'currency'>): string => JSON.stringify([key, currency])

const withReturn = (row: AttributionRow, spend: number): SpentRow => ({
  ...row,
  spend,
  returnOnSpend: spend === 0 ? null : row.revenue / spend,
})

const emptyRow = (name: SpendKeyName, { key, currency }: SpendSum): AttributionRow => ({
  channel: null,
  source: null,
  medium: null,
  campaign: null,
  landingPage: null,
  [name]: key,
  currency,
  revenue: 0,
  refunds: 0,
  orders: 0,
  conversions: 0,
  contacts: 0,
})
