/** Measures the time of each chart as a caller of the API sees it, and ClickHouse's work for it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '../../../src/stores/clickhouse.ts'
import { CHARTS, type Chart, addressOf } from './charts.ts'
import { SPAN_MS } from './fill-history.ts'

/** The last 90 days, or all time. */
export type Span = 'recent' | 'all'

export interface ChartCost {
  chart: Chart
  span: Span
  status: number
  /** The fastest repetition, because other programs run on the machine, too. */
  seconds: number
  /** Total of all queries of the chart. */
  rowsRead: number
  /** Maximum over the queries of the chart. */
  peakBytes: number
}

interface Target {
  clickhouse: ClickHouseClient
  /** Address of the front door. */
  url: string
  key: string
  /** Epoch milliseconds of the last event. */
  end: number
}

const DAY_MS = 86_400_000
const RECENT_DAYS = 90
const LOOK_MS = 20

/** Measures one chart after the other. */
export async function measureCharts(
  target: Target,
  { repeats, charts = CHARTS, note = () => undefined }: Options,
): Promise<ChartCost[]> {
  const costs: ChartCost[] = []
  for (const chart of charts)
    for (const span of chart.intervals ? (['recent', 'all'] as const) : (['all'] as const)) {
      const cost = await measureChart(target, chart, span, repeats)
      note(cost)
      costs.push(cost)
    }
  return costs
}

interface Options {
  repeats: number
  charts?: readonly Chart[]
  note?: (cost: ChartCost) => void
}

async function measureChart(target: Target, chart: Chart, span: Span, repeats: number): Promise<ChartCost> {
  const address = addressesOf(chart, target.end)[span]
  const watching = new AbortController()
  const watch = watchQueries(target.clickhouse, watching.signal)
  let seconds = Infinity
  let status = 0
  for (let n = 0; n < repeats; n += 1) {
    const began = performance.now()
    status = await readChart(target, address)
    seconds = Math.min(seconds, (performance.now() - began) / 1000)
  }
  watching.abort()
  const { rowsRead, peakBytes } = await watch
  return { chart, span, status, seconds, rowsRead: rowsRead / repeats, peakBytes }
}

export function addressesOf(chart: Chart, end: number): Record<Span, string> {
  const date = (at: number) => new Date(at).toISOString().slice(0, 10)
  const to = date(end + DAY_MS)
  return {
    recent: addressOf(chart, 0, date(end - RECENT_DAYS * DAY_MS), to),
    all: addressOf(chart, 1, date(end - SPAN_MS), to),
  }
}

async function readChart({ url, key }: Target, address: string): Promise<number> {
  const response = await fetch(`${url}/api/analytics${address}`, { headers: { Authorization: `Bearer ${key}` } })
  await response.arrayBuffer()
  return response.status
}

/** The ClickHouse of `start` has no query log, so this polls the running queries. */
async function watchQueries(clickhouse: ClickHouseClient, signal: AbortSignal) {
  const seen = new Map<string, { rows: number; bytes: number }>()
  while (!signal.aborted) {
    const result = await clickhouse.query({
      query: `select query_id, toFloat64(read_rows) as rows, toFloat64(peak_memory_usage) as bytes from system.processes
        where query not like '%system.processes%' and query ilike '%business%' settings max_threads = 1`,
      format: 'JSONEachRow',
    })
    for (const { query_id: id, rows, bytes } of await result.json<{
      query_id: string
      rows: number
      bytes: number
    }>()) {
      const before = seen.get(id) ?? { rows: 0, bytes: 0 }
      seen.set(id, { rows: Math.max(before.rows, rows), bytes: Math.max(before.bytes, bytes) })
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
  }
  const all = [...seen.values()]
  return {
    rowsRead: all.reduce((sum, { rows }) => sum + rows, 0),
    peakBytes: all.reduce((most, { bytes }) => Math.max(most, bytes), 0),
  }
}
