/** What was paid for advertising: one row for a day, a channel, a source, a campaign and a currency. */
import { type Fault, type FaultCode, type FaultValues, faultOf } from '../rules/faults.ts'
import { isClean, trimText } from '../rules/events/text.ts'
import { addAmounts } from '../rules/events/money.ts'
import { TOUCH_CHANNELS } from './attribution.ts'

/** Those of touches; what no browser reported was paid for nowhere. */
export const SPEND_CHANNELS = TOUCH_CHANNELS.filter((channel) => channel !== 'unknown')
export type SpendChannel = (typeof SPEND_CHANNELS)[number]

export interface SpendRow {
  /** Such as `2026-02-28`: of the business. */
  day: string
  channel: SpendChannel
  /** As in touches; empty when it was not said. */
  source: string
  campaign: string
  currency: string
  /** A decimal number: 0 or more, with 4 decimals at most. */
  amount: string
}

export const SPEND_FIELDS = ['day', 'channel', 'source', 'campaign', 'amount', 'currency'] as const
export type SpendField = (typeof SPEND_FIELDS)[number]

export const MAX_SOURCE = 256
export const MAX_CAMPAIGN = 512
const MAX_CURRENCY = 8
export const MAX_SPEND = 1_000_000_000_000
/** Spend has days from the first on, and before the other. */
export const SPEND_DAYS = ['1900-01-01', '2300-01-01'] as const

/** Reads what a caller or a file says. The path of a fault is the field. `currency`: that of the business, for a row without one. */
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

/** Whether it is a day that there is. */
export function isDay(sent: unknown): sent is string {
  const [first, end] = SPEND_DAYS
  if (typeof sent !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(sent) || sent < first || sent >= end) return false
  const at = new Date(`${sent}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(sent)
}

/** A number is taken by its shortest decimal text: what the caller wrote. */
function amountOf(sent: unknown): string | undefined {
  const text = typeof sent === 'number' ? String(sent) : sent
  if (typeof text !== 'string' || !/^\d{1,13}(\.\d{1,4})?$/.test(text) || Number(text) > MAX_SPEND) return undefined
  return addAmounts(text, '0')
}

/** Rows of one key are one row. */
export const keyOfSpend = ({ day, channel, source, campaign, currency }: SpendRow): string =>
  JSON.stringify([day, channel, source, campaign, currency])
