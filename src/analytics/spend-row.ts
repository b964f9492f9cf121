/** Spend on advertising: one row for a day, a channel, a source, a campaign and a currency. */
import { type Fault, type FaultCode, type FaultValues, faultOf } from '../rules/faults.ts'
import { isClean, trimText } from '../rules/events/text.ts'
import { MAX_CURRENCY } from '../rules/segments/grammar/limits.ts'
import { addAmounts } from '../rules/events/money.ts'
import { TOUCH_CHANNELS } from './attribution.ts'

/** Channels of touches. Spend exists only for what browsers can report. */
export const SPEND_CHANNELS = TOUCH_CHANNELS.filter((channel) => channel !== 'unknown')
export type SpendChannel = (typeof SPEND_CHANNELS)[number]

export interface SpendRow {
  /** Day in the zone of the business, such as `2026-02-28`. */
  day: string
  channel: SpendChannel
  /** As in touches; empty when it is not known. */
  source: string
  campaign: string
  currency: string
  /** A decimal number: 0 or more, with at most 4 decimals. */
  amount: string
}

export const SPEND_FIELDS = ['day', 'channel', 'source', 'campaign', 'amount', 'currency'] as const
export type SpendField = (typeof SPEND_FIELDS)[number]

export const MAX_SOURCE = 256
export const MAX_CAMPAIGN = 512
export const MAX_SPEND = 1_000_000_000_000
/** First and last day of spend: the first is included, the last is not. */
export const SPEND_DAYS = ['1900-01-01', '2300-01-01'] as const

/**
 * Reads a row of a caller or a file. The path of a fault is the field. `currency`: that of the business, for a row
 * without one.
 */
export function readSpendRow(
  sent: Partial<Record<SpendField, unknown>>,
  currency: string,
): { row: SpendRow } | { faults: Fault[] } {
  const faults: Fault[] = []
  const note = <Code extends FaultCode>(field: SpendField, code: Code, ...values: FaultValues<Code>): undefined =>
    void faults.push(faultOf(field, code, ...values))
  const textOf = (field: SpendField, most: number): string => {
    const value = sent[field] ?? ''
    const text = typeof value === 'string' ? trimText(value) : null
    if (text !== null && text.length <= most && isClean(text)) return text
    note(field, 'text_up_to', { max: most })
    return ''
  }
  const channel = SPEND_CHANNELS.find((one) => one === sent.channel)
  const day = isDay(sent.day) ? sent.day : note('day', 'date')
  if (channel === undefined) note('channel', 'one_of', { choices: SPEND_CHANNELS.join(', ') })
  const [source, campaign] = [textOf('source', MAX_SOURCE), textOf('campaign', MAX_CAMPAIGN)]
  const amount = amountOf(sent.amount)
  if (amount === undefined) note('amount', 'amount', { max: MAX_SPEND })
  const said = textOf('currency', MAX_CURRENCY).toUpperCase()
  if (day === undefined || channel === undefined || amount === undefined || faults.length > 0) return { faults }
  return { row: { day, channel, source, campaign, currency: said || currency, amount } }
}

/** Returns whether the day exists. */
export function isDay(sent: unknown): sent is string {
  const [first, end] = SPEND_DAYS
  if (typeof sent !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(sent) || sent < first || sent >= end) return false
  const at = new Date(`${sent}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(sent)
}

/** Uses the shortest decimal text of a number, as the caller wrote it. */
function amountOf(sent: unknown): string | undefined {
  const text = typeof sent === 'number' ? String(sent) : sent
  if (typeof text !== 'string' || !/^\d{1,13}(\.\d{1,4})?$/.test(text) || Number(text) > MAX_SPEND) return undefined
  return addAmounts(text, '0')
}

/** Rows with the same key are one row. */
export const keyOfSpend = ({ day, channel, source, campaign, currency }: SpendRow): string =>
  JSON.stringify([day, channel, source, campaign, currency])
