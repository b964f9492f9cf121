import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadResult } from '../generator/plan.ts'
import { createHistogram, record, summarise } from '../generator/latency.ts'
import type { Stack } from '../stack.ts'
import { openPace } from './open-loop.ts'
import { type Scenario, atMost, noError } from './scenario.ts'

const RATE = 2000
const PROBES = 50
/** Milliseconds between two queries of the views. This delay counts against the product. */
const EVERY_MS = 100

export const visibility: Scenario = {
  name: 'visibility',
  title: 'acknowledged → visible in ClickHouse views at 2,000/s',
  async run(bench) {
    const seconds = bench.length(4, 60)
    const crowd = await bench.openCallers({ kind: 'typical', prefix: 'crowd-' })
    const probe = await bench.openCallers({ kind: 'probe', prefix: 'probe-' })
    const watcher = watch(bench.stack, probe.businessIds[0] ?? '')
    const measured = await bench.send(
      [crowd, { ...openPace(RATE - PROBES), seconds }],
      [probe, { ...openPace(PROBES), seconds, trace: true }],
    )
    const seen = await watcher.stop()
    const latency = summarise(delays(measured.loads[1], seen))
    return {
      checks: [
        atMost('p99', latency.p99 / 1000, 1.5, 's'),
        {
          goal: 'each is seen',
          figure: `${latency.count} of ${measured.loads[1]?.sent}`,
          met: latency.count === measured.loads[1]?.sent,
        },
        ...measured.loads.map(noError),
      ],
      measured: { [`${RATE.toLocaleString('en')}/s`]: measured },
      notes: [
        `p50 ${latency.p50} ms, p99 ${latency.p99} ms, at most ${latency.max} ms, looked at every ${EVERY_MS} ms.`,
      ],
    }
  },
}

/** Measures from the response until the event is in the timeline and its contact among the contacts. */
function delays(probed: LoadResult | undefined, seen: Map<number, number>) {
  const histogram = createHistogram()
  for (const [n, dueAt, took] of probed?.trace ?? []) {
    const seenAt = seen.get(n)
    if (seenAt !== undefined) record(histogram, seenAt - (dueAt + took))
  }
  return histogram
}

/** Notes when, in epoch milliseconds, the event with each number first appeared in both views. */
function watch(stack: Stack, businessId: string) {
  const stopping = new AbortController()
  const seen = new Map<number, number>()
  const keepLooking = async (): Promise<Map<number, number>> => {
    for (;;) {
      // The last rows may have been shipped during a query.
      const isLast = stopping.signal.aborted
      const numbers = await readVisible(stack, businessId)
      const now = Date.now()
      for (const n of numbers) if (!seen.has(n)) seen.set(n, now)
      if (isLast) return seen
      await sleep(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const looking = keepLooking()
  return {
    stop() {
      stopping.abort()
      return looking
    },
  }
}

async function readVisible({ own: { clickhouse } }: Stack, businessId: string): Promise<number[]> {
  const ask = async (query: string) => {
    const result = await clickhouse.query({ query, query_params: { b: businessId }, format: 'JSONEachRow' })
    return (await result.json<{ n: number }>()).map(({ n }) => n)
  }
  const [events, contacts] = await Promise.all([
    ask(`select toInt32(value - 1) as n from timeline where business_id = {b: UUID}`),
    ask(`select toInt32(JSONExtractInt(custom_fields, 'probe')) as n from contacts where business_id = {b: UUID}`),
  ])
  const known = new Set(contacts)
  return events.filter((n) => known.has(n))
}
