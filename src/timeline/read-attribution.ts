import { ClickHouseError } from '@clickhouse/client'
import type { Logger } from '../log.ts'
import { amountToNumber } from '../rules/events/money.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { queryWithRetry } from './query-with-retry.ts'
import { additionalTableFilters } from './table-filters.ts'

export const ATTRIBUTION_MODELS = ['first', 'last'] as const
export type AttributionModel = (typeof ATTRIBUTION_MODELS)[number]

/** The channels of the view of touches, and `unknown`: no browser ever reported one (docs/analytics.md). */
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
  /** There are more rows than are returned. */
  truncated: boolean
}

export const MAX_ATTRIBUTION_ROWS = 1000
const PATIENCE_MS = 10_000
/** Less than PATIENCE_MS, so that a query that is too slow differs from a ClickHouse that is away. */
const LONGEST_SECONDS = 8
/** Documented in docs/analytics.md: a report must not take the memory that inserts need. */
const MEMORY_BYTES = 1024 ** 3

/**
 * What came in within a time, by what brought it. `too_much`: it takes ClickHouse more than 8 s or 1 GiB, and a repeat would
 * too. Undefined when ClickHouse does not answer within 10 s.
 */
export async function readAttribution(
  deps: { clickhouse: ClickHouseClient; log: Logger },
  query: AttributionQuery,
  patienceMs = PATIENCE_MS,
): Promise<Attribution | 'too_much' | undefined> {
  const found = await queryWithRetry(deps, { ms: patienceMs, whileAliveMs: patienceMs }, (signal) =>
    selectRows(deps.clickhouse, query, signal).catch(classifyError),
  )
  if (found === undefined || found === 'too_much') return found
  return { rows: found.slice(0, MAX_ATTRIBUTION_ROWS).map(toRow), truncated: found.length > MAX_ATTRIBUTION_ROWS }
}

const TOO_MUCH = new Set(['MEMORY_LIMIT_EXCEEDED', 'TIMEOUT_EXCEEDED'])

function classifyError(error: unknown): 'too_much' {
  if (error instanceof ClickHouseError && TOO_MUCH.has(error.type ?? '')) return 'too_much'
  throw error
}

type FoundRow = Omit<AttributionRow, 'revenue' | 'refunds' | 'currency'> & {
  currency: string
  revenue: string
  refunds: string
}

async function selectRows(
  clickhouse: ClickHouseClient,
  query: AttributionQuery,
  signal: AbortSignal,
): Promise<FoundRow[]> {
  const { businessId, model, from, to } = query
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
      settings output_format_json_quote_64bit_integers = 0, max_execution_time = ${LONGEST_SECONDS},
        max_memory_usage = ${MEMORY_BYTES}, ${fenceOf(query)}`,
    query_params: { business: businessId, from, to },
    format: 'JSONEachRow',
    abort_signal: signal,
  })
  return await result.json<FoundRow>()
}

/** Touches are many, and sorted: only those of browsers that ever were a buyer's are looked at, whose they were then is the view's. */
function fenceOf({ businessId, from, to }: AttributionQuery): string {
  const ours = `business_id = '${businessId}'`
  const buyers = `select contact_id from timeline
    where ${ours} and type in ('purchase', 'refund') and occurred_ms >= ${from} and occurred_ms < ${to}`
  const merged = `select contact_id from contact_redirects where ${ours} and survivor_id in (${buyers})`
  const browsers = `select visitor_id from visitor_links
    where ${ours} and (contact_id in (${buyers}) or contact_id in (${merged}))`
  return additionalTableFilters({
    events: ours,
    contact_redirects: ours,
    visitor_touches: `${ours} and visitor_id in (${browsers})`,
    visitor_links: ours,
  })
}

const toRow = (row: FoundRow): AttributionRow => ({
  ...row,
  currency: row.currency === '' ? null : row.currency,
  revenue: amountToNumber(row.revenue),
  refunds: amountToNumber(row.refunds),
})
