/** Reads the revenue of contacts in given periods from the timeline. */
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { textLiteral } from '../stores/clickhouse-literal.ts'
import { selectWithinLimits } from '../timeline/reading/select-within-limits.ts'

export interface Earning {
  /** Ids of the contact and of contacts that were merged into it. UUIDs. */
  ids: readonly string[]
  /** Epoch milliseconds, both included. */
  from: number
  to: number
}

export interface Revenue {
  /** Position of the period in the list. */
  place: number
  currency: string
  /** Net of refunds, exact, as a decimal. */
  amount: string
}

/** Maximum number of ids in one query, because ClickHouse parses its text before running it. */
export const MAX_IDS = 2000

/** Contacts without an entry have no revenue. */
export async function readRevenue(
  clickhouse: ClickHouseClient,
  { businessId, earning }: { businessId: string; earning: readonly Earning[] },
  signal: AbortSignal,
): Promise<Revenue[]> {
  const rows = earning.flatMap(({ ids, from, to }, place) =>
    ids.map((id) => `(${textLiteral(id)}, ${place}, ${from}, ${to})`),
  )
  const found: Revenue[] = []
  for (let at = 0; at < rows.length; at += MAX_IDS) {
    const query = textOf(rows.slice(at, at + MAX_IDS))
    found.push(...(await selectWithinLimits<Revenue>(clickhouse, query, { businessId }, signal)))
  }
  return found
}

const textOf = (rows: readonly string[]): string => `
  with spans as (
    select * from values('contact_id UUID, place UInt32, from_ms Int64, to_ms Int64', ${rows.join(', ')})
  )
  select spans.place as place, events.currency as currency, toString(sum(events.counted)) as amount
  from events join spans on events.contact_id = spans.contact_id
  where events.business_id = {businessId: UUID} and events.contact_id in (select contact_id from spans)
    and events.counted != 0 and events.currency is not null
    and events.occurred_ms between spans.from_ms and spans.to_ms
  group by place, currency`
