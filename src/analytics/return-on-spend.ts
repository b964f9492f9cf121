/** Spend and the revenue that it brought. */
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

/** `spend` is null where the rows have a dimension that spend lacks. */
export interface SpentRow extends AttributionRow {
  spend: number | null
  /** Revenue divided by spend; null without spend. */
  returnOnSpend: number | null
}

export interface Spent {
  /** Most revenue first. */
  rows: SpentRow[]
  truncated: boolean
}

/** Dimensions that spend lacks: medium and landing page. */
const KEYS: Partial<Record<AttributionKey, SpendKeyName>> = {
  channel: 'channel',
  source: 'source',
  campaign: 'campaign',
}

/** The spend of a day counts when the day begins within the period. Spend without revenue has a row, too. */
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
    // Rows with revenue come first: when not all of these fit, no others do.
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
  // The sort is stable: of rows with equal revenue, those with conversions come first.
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
