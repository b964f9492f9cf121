/** Revenue by the touches that brought it. */
import { Buffer } from 'node:buffer'
import { amountToNumber } from '../rules/events/money.ts'
import { additionalTableFilters } from '../timeline/reading/table-filters.ts'
import type { ReadRows } from './read-rows.ts'

/** Which touches at or before a purchase get the revenue, and in which shares. */
export const ATTRIBUTION_MODELS = ['first', 'last', 'linear', 'time_decay', 'position'] as const
export type AttributionModel = (typeof ATTRIBUTION_MODELS)[number]

/** The dimensions of rows; `touch`: channel, source, medium and campaign together. */
export const ATTRIBUTION_KEYS = ['touch', 'channel', 'source', 'campaign', 'landing_page'] as const
export type AttributionKey = (typeof ATTRIBUTION_KEYS)[number]

/** The channels of the view of touches, and `unknown`, which no browser ever reported (docs/analytics.md). */
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
  by: AttributionKey
  /** Name of an event whose conversions are shown in place of orders. */
  event?: string
  /** Epoch milliseconds: `from` is included, `to` is not. */
  from: number
  to: number
}

/**
 * The result of one source in one currency. Values that were not reported are empty; dimensions that the rows do not
 * have are null.
 */
export interface AttributionRow {
  channel: (typeof TOUCH_CHANNELS)[number] | null
  source: string | null
  medium: string | null
  campaign: string | null
  /** Without query string and fragment. */
  landingPage: string | null
  /** Null for orders without an amount. */
  currency: string | null
  /** Net of refunds. */
  revenue: number
  /** A positive number. */
  refunds: number
  /** Includes fractions of orders if a model divides them. */
  orders: number
  /** Orders, or the named events, counted the same way. */
  conversions: number
  /** Contacts who bought, or who did the event. */
  contacts: number
}

export interface Attribution {
  /** Most revenue first. */
  rows: AttributionRow[]
  /** True when there are more rows than are returned. */
  truncated: boolean
}

export const MAX_ATTRIBUTION_ROWS = 1000
/** A touch has half the weight of a touch that was this many milliseconds later. */
const HALF_LIFE_MS = 7 * 86_400_000

/** Returns the revenue of a period by what brought it. Rejects with QueryFault. */
export async function readAttribution(read: ReadRows, query: AttributionQuery): Promise<Attribution> {
  const { businessId, by, event, from, to } = query
  const names = COLUMNS[by]
  const rows = await read<FoundRow>(
    `${creditSql(query, names)}
    limit ${MAX_ATTRIBUTION_ROWS + 1}
    settings ${fenceOf(query)}`,
    { business: businessId, from, to, ...(event !== undefined && { event }) },
  )
  return { rows: rows.slice(0, MAX_ATTRIBUTION_ROWS).map(toRow), truncated: rows.length > MAX_ATTRIBUTION_ROWS }
}

type Column = 'channel' | 'source' | 'medium' | 'campaign' | 'landing_page'

const COLUMNS: Record<AttributionKey, Column[]> = {
  touch: ['channel', 'source', 'medium', 'campaign'],
  channel: ['channel'],
  source: ['source'],
  campaign: ['campaign'],
  landing_page: ['landing_page'],
}

type FoundRow = Partial<Record<Column, string>> & {
  currency: string
  revenue: string
  refunds: string
  orders: number
  conversions: number
  contacts: number
}

/**
 * The purchases, their touches and the touches of refunds are those of the view `attributed_purchases`. Of several
 * touches at one instant, the last touch in the view counts. (Reading the first or the last touch from the view itself
 * takes longer.)
 */
function creditSql({ model, event }: AttributionQuery, names: Column[]): string {
  const isNamed = event !== undefined
  const [converts, isConverted] = isNamed ? ['1', '1'] : [`type = 'purchase'`, 'is_order = 1']
  const nothing = names.map((name) => (name === 'channel' ? `'unknown'` : `''`))
  const columns = names.map((name, place) => `part.1.${place + 2} as ${name}`)
  // A whole amount is summed exactly.
  const isDivided = model !== 'first' && model !== 'last'
  const sumOf = (amount: string, condition = '1') =>
    isDivided ? `round(sumIf(toFloat64(${amount}) * part.2, ${condition}), 6)` : `sumIf(${amount}, ${condition})`
  return `with
      paid as (
        select contact_id, type, ifNull(currency, '') as currency, counted_revenue as amount, is_order, occurred_ms
        from timeline
        where business_id = {business: UUID} and type in ('purchase', 'refund')
          and (counted_revenue != 0 or is_order = 1)
      ),
      meant as (${isNamed ? NAMED : 'select * from paid'}),
      credited as (
        select o.contact_id as contact_id, o.type as type, o.currency as currency, o.amount as amount,
          o.is_order as is_order, if(o.type = 'refund' and b.is_found = 1, b.occurred_ms, o.occurred_ms) as credit_ms
        from (select * from meant where occurred_ms >= {from: Int64} and occurred_ms < {to: Int64}) as o
        asof left join (
          select contact_id, currency, occurred_ms, 1 as is_found from paid where type = 'purchase'
        ) as b on b.contact_id = o.contact_id and b.currency = o.currency and o.occurred_ms >= b.occurred_ms
      ),
      theirs as (
        select person, arraySort(one -> one.1, groupArray(tuple(at_ms, ${names.join(', ')}))) as touches
        from (
          select assumeNotNull(contact_id) as person, at_ms, channel, source, medium, campaign,
            cutQueryStringAndFragment(landing_url) as landing_page
          from touches
          where business_id = {business: UUID} and contact_id is not null
          order by at_ms, visitor_id, landing_url
          limit 1 by person, at_ms
        )
        group by person
      )
    select ${columns.join(', ')}, currency, toString(${sumOf('amount')}) as revenue,
      toString(${sumOf('-amount', `type = 'refund'`)}) as refunds,
      round(sumIf(part.2, is_order = 1), 6) as orders, round(sumIf(part.2, ${isConverted}), 6) as conversions,
      uniqExactIf(contact_id, ${converts}) as contacts
    from (
      select contact_id, type, currency, amount, is_order,
        ${EARLIER[model]} as earlier, length(earlier) as many, earlier[-1].1 as latest,
        ${WEIGHTS[model]} as weights, arraySum(weights) as weight,
        arrayJoin(if(many = 0, [tuple(tuple(toInt64(0), ${nothing.join(', ')}), toFloat64(1))],
          arrayMap((one, part) -> tuple(one, part / weight), earlier, weights))) as part
      from credited
      left join theirs on theirs.person = credited.contact_id
    )
    group by ${names.join(', ')}, currency
    order by ${isDivided ? 'sum(toFloat64(amount) * part.2)' : 'sum(amount)'} desc, orders desc, ${names.join(', ')}, currency`
}

/** All conversions, whether or not they were paid for. */
const NAMED = `select contact_id, type, ifNull(currency, '') as currency, counted_revenue as amount, is_order, occurred_ms
        from timeline where business_id = {business: UUID} and event = {event: String}`

const BEFORE = 'arrayFilter(one -> one.1 <= credit_ms, touches)'
const EARLIER: Record<AttributionModel, string> = {
  first: `arraySlice(${BEFORE}, 1, 1)`,
  last: `arraySlice(${BEFORE}, -1, 1)`,
  linear: BEFORE,
  time_decay: BEFORE,
  position: BEFORE,
}

const EQUAL = 'arrayMap(one -> toFloat64(1), earlier)'
const WEIGHTS: Record<AttributionModel, string> = {
  first: EQUAL,
  last: EQUAL,
  linear: EQUAL,
  time_decay: `arrayMap(one -> exp2((one.1 - latest) / ${HALF_LIFE_MS}), earlier)`,
  // 40 % each for the first and the last; the others share the rest.
  position: `arrayMap((one, place) -> toFloat64(multiIf(many <= 2, 1, place in (1, many), 0.4, 0.2 / (many - 2))),
          earlier, arrayEnumerate(earlier))`,
}

/**
 * Touches are many, and sorted, so only touches of browsers that ever belonged to a buyer are read. The view decides
 * whose they were at the time.
 */
function fenceOf({ businessId, event, from, to }: AttributionQuery): string {
  const ours = `business_id = '${businessId}'`
  // A setting cannot contain a text inside a text inside a text.
  const meant =
    event === undefined ? `type in ('purchase', 'refund')` : `event = unhex('${Buffer.from(event).toString('hex')}')`
  const buyers = `select contact_id from timeline
    where ${ours} and ${meant} and occurred_ms >= ${from} and occurred_ms < ${to}`
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

const toRow = ({ landing_page: landingPage, ...row }: FoundRow): AttributionRow => ({
  channel: (row.channel as AttributionRow['channel'] | undefined) ?? null,
  source: row.source ?? null,
  medium: row.medium ?? null,
  campaign: row.campaign ?? null,
  landingPage: landingPage ?? null,
  currency: row.currency === '' ? null : row.currency,
  revenue: amountToNumber(row.revenue),
  refunds: amountToNumber(row.refunds),
  orders: row.orders,
  conversions: row.conversions,
  contacts: row.contacts,
})
