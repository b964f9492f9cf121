/** Events and revenue of the last days, from the timeline. */
import { QUARTER_MS } from '../../rules/local-days.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import { nullOnTimeout, selectWithinLimits } from './select-within-limits.ts'

export interface QuarterOfEvents {
  /** Start of the quarter of an hour, in epoch ms. */
  at: number
  currency: string | null
  events: number
  /** Net of refunds, as an exact decimal. */
  revenue: string
}

/**
 * Returns events and revenue by quarter of an hour and currency, without those of erased people. Resolves with null
 * when ClickHouse does not answer in time.
 */
export function readDailyEvents(
  clickhouse: ClickHouseClient,
  { businessId, since }: { businessId: string; since: number },
): Promise<QuarterOfEvents[] | null> {
  return nullOnTimeout((signal) =>
    selectWithinLimits<QuarterOfEvents>(
      clickhouse,
      `select intDiv(occurred_ms, ${QUARTER_MS}) * ${QUARTER_MS} as at, currency, count() as events,
        toString(sum(counted)) as revenue
      from events
      where business_id = {businessId: UUID} and occurred_ms >= {since: Int64}
        and contact_id not in (
          select contact_id from contact_redirects final where business_id = {businessId: UUID} and erased = 1
        )
      group by at, currency`,
      { businessId, since },
      signal,
    ),
  )
}
