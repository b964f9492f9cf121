/** Progress of the queries of a chart that is being computed, for the page that waits for it. */
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { nullOnTimeout, selectWithinLimits } from '../timeline/reading/select-within-limits.ts'

export interface ChartProgress {
  /** A chart can take several queries, one after the other. This is the number of the running one, from 1. */
  part: number
  rows: number
  /** The total that ClickHouse knows so far. It can grow. */
  totalRows: number
}

/**
 * The comment of a chart's queries in ClickHouse's list of running queries. `chartId`: of the page's request, a UUID.
 */
export const markOf = (businessId: string, chartId: string): string => `chart ${businessId} ${chartId}`

/** Null when no query of the chart runs: it waits, it has ended, or ClickHouse does not answer. */
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
