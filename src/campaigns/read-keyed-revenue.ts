/** Revenue of enrolments with keys: several of one contact may lie in one time, and no event counts twice. */
import { keyPathOf, readKey } from '../rules/campaigns/enrolment-key.ts'
import { conditionPath } from '../rules/campaigns/event-condition.ts'
import { addAmounts } from '../rules/events/money.ts'
import { propertySql, readableJson } from '../segments/clickhouse/json-sql.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { textLiteral } from '../stores/clickhouse-literal.ts'
import type { Sql } from '../stores/postgres.ts'
import { selectWithinLimits } from '../timeline/reading/select-within-limits.ts'
import type { Campaign } from './campaign.ts'
import { type Earning, MAX_IDS, type Revenue } from './read-revenue.ts'

/** The path of the key in events of the goal. Null: the goal does not compare keys. */
export interface RevenueKeys {
  path: string | null
}

/** Null: the campaign enrols once for each contact. */
export function keysOf({ enrolPer, goal }: Pick<Campaign, 'enrolPer' | 'goal'>): RevenueKeys | null {
  const keyPath = keyPathOf(enrolPer)
  return keyPath === null ? null : { path: goal === null ? null : conditionPath(goal, keyPath) }
}

export interface KeyedEarning extends Earning {
  /** Of the enrolment. */
  id: string
  contactId: string
  key: string | null
}

interface Asked {
  businessId: string
  keys: RevenueKeys
  earning: readonly KeyedEarning[]
  /** All converted enrolments of these contacts, in their order. Not needed with a path. */
  spans: readonly Span[]
}

/**
 * With a path, an event counts for the enrolments whose key it carries there. Without one, it counts for the latest
 * converted enrolment of the contact that it lies in.
 */
export async function readKeyedRevenue(
  clickhouse: ClickHouseClient,
  asked: Asked,
  signal: AbortSignal,
): Promise<Revenue[]> {
  const { earning, keys } = asked
  if (earning.length === 0) return []
  const latest = keys.path === null ? Map.groupBy(asked.spans, ({ contactId }) => contactId) : null
  const sums = new Map<string, Revenue>()
  for (const { place, at, currency, amount, key } of await readEvents(clickhouse, asked, signal)) {
    const one = earning[place]!
    const counts = latest === null ? key === one.key : isLatest(latest.get(one.contactId) ?? [], one.id, at)
    if (!counts) continue
    const name = `${place} ${currency}`
    sums.set(name, { place, currency, amount: addAmounts(sums.get(name)?.amount ?? '0', amount) })
  }
  return [...sums.values()]
}

export interface Span {
  id: string
  contactId: string
  from: number
  to: number
}

/** The spans are in the order of the enrolments. */
const isLatest = (spans: readonly Span[], id: string, at: number): boolean =>
  spans.findLast(({ from, to }) => from <= at && at <= to)?.id === id

/** Returns all converted enrolments of these contacts in the campaign, in their order. */
export async function readSpans(
  sql: Sql,
  { businessId, campaignId }: { businessId: string; campaignId: string },
  earning: readonly KeyedEarning[],
): Promise<Span[]> {
  const ids = [...new Set(earning.map(({ contactId }) => contactId))]
  return await sql<Span[]>`
    select e.id, e.contact_id as "contactId", e.enrolled_at as "from", e.ended_at as "to"
    from keyed_enrolments e
    where e.business_id = ${businessId} and e.contact_id = any (${`{${ids.join(',')}}`}::text::uuid[])
      and e.campaign_id = ${campaignId} and e.state = 'converted'
    order by e.enrolled_at, e.received_at, e.id`
}

interface EarningEvent {
  place: number
  at: number
  currency: string
  /** A decimal. */
  amount: string
  key: string | null
}

async function readEvents(
  clickhouse: ClickHouseClient,
  { businessId, keys: { path }, earning }: Asked,
  signal: AbortSignal,
): Promise<EarningEvent[]> {
  const rows = earning.flatMap(({ ids, from, to }, place) =>
    ids.map((id) => `(${textLiteral(id)}, ${place}, ${from}, ${to})`),
  )
  const found: EarningEvent[] = []
  for (let at = 0; at < rows.length; at += MAX_IDS) {
    const query = textOf(rows.slice(at, at + MAX_IDS), path)
    const events = await selectWithinLimits<Omit<EarningEvent, 'key'> & { value: string }>(
      clickhouse,
      query,
      { businessId },
      signal,
    )
    found.push(
      ...events.map(({ value, ...event }) => ({ ...event, key: value === '' ? null : readKey(JSON.parse(value)) })),
    )
  }
  return found
}

const PROPERTIES = 'events.properties'

const textOf = (rows: readonly string[], path: string | null): string => `
  with spans as (
    select * from values('contact_id UUID, place UInt32, from_ms Int64, to_ms Int64', ${rows.join(', ')})
  )
  select spans.place as place, events.occurred_ms as at, events.currency as currency, toString(events.counted) as amount,
    ${path === null ? "''" : propertySql(PROPERTIES, readableJson(PROPERTIES), path)} as value
  from events join spans on events.contact_id = spans.contact_id
  where events.business_id = {businessId: UUID} and events.contact_id in (select contact_id from spans)
    and events.counted != 0 and events.currency is not null
    and events.occurred_ms between spans.from_ms and spans.to_ms`
