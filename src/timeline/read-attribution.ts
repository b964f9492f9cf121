import type { Logger } from '../log.ts'
import { amountToNumber } from '../rules/money.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { askPatiently } from './ask-patiently.ts'
import { fenceTables } from './fence-tables.ts'

export const ATTRIBUTION_MODELS = ['first', 'last'] as const
export type AttributionModel = (typeof ATTRIBUTION_MODELS)[number]

/** What the view of touches can answer, and `unknown`: no browser ever told (docs/analytics.md). */
export const TOUCH_CHANNELS = [
  'paid_search',
  'paid_social',
  'paid_other',
  'display',
  'email',
  'sms',
  'affiliate',
  'organic_search',
  'organic_social',
  'referral',
  'campaign',
  'direct',
  'unknown',
] as const

export interface AttributionQuery {
  businessId: string
  model: AttributionModel
  /** Epoch ms: `from` is in it, `to` is not. */
  from: number
  to: number
}

/** What one source brought, in one currency. What was not said is empty. */
interface AttributionRow {
  channel: (typeof TOUCH_CHANNELS)[number]
  source: string
  medium: string
  campaign: string
  /** Null for orders that came without an amount. */
  currency: string | null
  /** Net of refunds. */
  revenue: number
  /** A positive number. */
  refunds: number
  orders: number
  /** Who bought. */
  contacts: number
}

export interface Attribution {
  /** Most revenue first. */
  rows: AttributionRow[]
  /** There are more than are told. */
  truncated: boolean
}

export const MAX_ATTRIBUTION_ROWS = 1000
const PATIENCE_MS = 10_000

/** What came in within a time, by what brought it. Undefined when ClickHouse does not answer within 10 s. */
export async function readAttribution(
  deps: { clickhouse: ClickHouseClient; log: Logger },
  query: AttributionQuery,
  patienceMs = PATIENCE_MS,
): Promise<Attribution | undefined> {
  const found = await askPatiently(deps.log, patienceMs, (signal) => selectRows(deps.clickhouse, query, signal))
  return (
    found && { rows: found.slice(0, MAX_ATTRIBUTION_ROWS).map(toRow), truncated: found.length > MAX_ATTRIBUTION_ROWS }
  )
}

type FoundRow = Omit<AttributionRow, 'revenue' | 'refunds' | 'currency'> & {
  currency: string
  revenue: string
  refunds: string
}

async function selectRows(
  clickhouse: ClickHouseClient,
  { businessId, model, from, to }: AttributionQuery,
  signal: AbortSignal,
): Promise<FoundRow[]> {
  const ours = `business_id = '${businessId}'`
  const fence = fenceTables({ events: ours, contact_redirects: ours, visitor_touches: ours, visitor_links: ours })
  const result = await clickhouse.query({
    query: `
      select ${model}_channel as channel, ${model}_source as source, ${model}_medium as medium, ${model}_campaign as campaign,
        currency, toString(sum(amount)) as revenue, toString(-sumIf(amount, type = 'refund')) as refunds,
        countIf(is_order = 1) as orders, uniqExactIf(contact_id, type = 'purchase') as contacts
      from attributed_purchases
      where business_id = {business: UUID} and occurred_ms >= {from: Int64} and occurred_ms < {to: Int64}
      group by channel, source, medium, campaign, currency
      order by sum(amount) desc, orders desc, channel, source, medium, campaign, currency
      limit ${MAX_ATTRIBUTION_ROWS + 1}
      settings output_format_json_quote_64bit_integers = 0, max_execution_time = ${PATIENCE_MS / 1000},
        ${fence}`,
    query_params: { business: businessId, from, to },
    format: 'JSONEachRow',
    abort_signal: signal,
  })
  return await result.json<FoundRow>()
}

const toRow = (row: FoundRow): AttributionRow => ({
  ...row,
  currency: row.currency === '' ? null : row.currency,
  revenue: amountToNumber(row.revenue),
  refunds: amountToNumber(row.refunds),
})
