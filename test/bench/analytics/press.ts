/** Analysts who look at charts: each requests one after the other, without a pause. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createHistogram, record, summarise } from '../generator/latency.ts'
import type { Latency } from '../generator/plan.ts'
import { CHARTS } from './charts.ts'
import { addressesOf } from './measure-charts.ts'

export interface Pressed {
  latency: Latency
  /** Number of responses by HTTP status. */
  answers: Record<string, number>
}

interface Options {
  url: string
  key: string
  /** Epoch milliseconds of the last event. */
  end: number
  analysts: number
  signal: AbortSignal
}

/** Milliseconds before an analyst retries after a refusal. */
const AGAIN_MS = 1000

/** Runs until `signal` aborts. */
export async function pressCharts({ url, key, end, analysts, signal }: Options): Promise<Pressed> {
  const histogram = createHistogram()
  const answers: Record<string, number> = {}
  const addresses = CHARTS.flatMap((chart) => Object.values(addressesOf(chart, end)))
  const press = async (analyst: number): Promise<void> => {
    for (let at = analyst; !signal.aborted; at += analysts) {
      const began = performance.now()
      const status = await fetch(`${url}/api/analytics${addresses[at % addresses.length]}`, {
        headers: { Authorization: `Bearer ${key}` },
        signal,
      }).then(
        async (response) => (await response.arrayBuffer(), String(response.status)),
        () => 'no answer',
      )
      if (signal.aborted) return
      record(histogram, performance.now() - began)
      answers[status] = (answers[status] ?? 0) + 1
      if (status !== '200') await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  await Promise.all(Array.from({ length: analysts }, (_, analyst) => press(analyst)))
  return { latency: summarise(histogram), answers }
}
