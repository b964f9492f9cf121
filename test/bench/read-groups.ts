/** Reads how many events were processed together: in a stream entry, in a micro-batch, in an insert into ClickHouse. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stack } from './stack.ts'

/** Average numbers of events. */
export interface Groups {
  entry: number
  microBatch: number
  insert: number
}

export interface Counters {
  entries: number
  microBatches: number
  microBatchEvents: number
  inserts: number
  insertedEvents: number
}

export async function readGroups({ workersUrl, streams, own: { redis } }: Stack): Promise<Counters> {
  const metrics = await (await fetch(`${workersUrl}/metrics`)).text()
  const entries = await Promise.all(streams.map((stream) => readEntriesAdded(redis, stream)))
  return {
    entries: entries.reduce((sum, added) => sum + added, 0),
    microBatches: sumOf(metrics, 'micro_batch_events_count'),
    microBatchEvents: sumOf(metrics, 'micro_batch_events_sum'),
    inserts: sumOf(metrics, 'timeline_insert_duration_seconds_count'),
    insertedEvents: sumOf(metrics, 'timeline_rows_total'),
  }
}

/** Returns the averages since `before`, when the workers, which report every second, have reported all events. */
export async function untilReported(stack: Stack, before: Counters, events: number): Promise<Groups> {
  const deadline = Date.now() + 5000
  for (;;) {
    const now = await readGroups(stack)
    const applied = now.microBatchEvents - before.microBatchEvents
    const inserted = now.insertedEvents - before.insertedEvents
    if ((applied >= events && inserted >= events) || Date.now() > deadline) {
      return {
        entry: applied / Math.max(1, now.entries - before.entries),
        microBatch: applied / Math.max(1, now.microBatches - before.microBatches),
        insert: inserted / Math.max(1, now.inserts - before.inserts),
      }
    }
    await sleep(100)
  }
}

async function readEntriesAdded(redis: Stack['own']['redis'], stream: string): Promise<number> {
  if (!(await redis.exists(stream))) return 0
  const info = (await redis.xinfo('STREAM', stream)) as (string | number)[]
  return Number(info[info.indexOf('entries-added') + 1])
}

/** Returns the sum of one metric over all labels, in Prometheus' text format. */
export function sumOf(metrics: string, name: string): number {
  const lines = metrics.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
