/** How far the queries of a chart are that is being computed, for the page that waits for it. */
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { nullOnTimeout, selectWithinLimits } from '../timeline/select-within-limits.ts'

export interface ChartProgress {
  /** A chart can take several queries, one after the other: which one runs, from 1 on. */
  part: number
  rows: number
  /** As far as ClickHouse knows by now: it can grow. */
  totalRows: number
}

/** What the queries of one chart are called in ClickHouse's list of running ones. `chartId`: of the page's request, a UUID. */
export const markOf = (businessId: string, chartId: string): string => `chart ${businessId} ${chartId}`

/** Null when no query of it runs: it waits, is over, or ClickHouse does not answer. */
export async function readChartProgress(
  clickhouse: ClickHouseClient,
  businessId: string,
  chartId: string,
): Promise<ChartProgress | null> {
  const mark = `${markOf(businessId, chartId)} `
  const rows = await nullOnTimeout((signal) =>
    selectWithinLimits<ChartProgress>(
      clickhouse,
      `select toUInt32OrZero(splitByChar(' ', Settings['log_comment'])[4]) as part, toFloat64(read_rows) as rows,
        toFloat64(greatest(read_rows, total_rows_approx)) as totalRows
      from system.processes where startsWith(Settings['log_comment'], {mark: String}) and is_cancelled = 0
      order by part desc limit 1`,
      { mark },
      signal,
    ),
  )
  return rows?.[0] ?? null
}
