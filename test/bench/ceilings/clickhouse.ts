/**
 * Inserts the same timeline rows into a table with the same columns, in inserts of the size that the pipeline achieved.
 */
import { connectClickHouse } from '../../../src/stores/clickhouse.ts'
import { serveTask } from '../task.ts'
import { readFacts, requestsFor } from './facts.ts'
import { type CeilingPlan, inGroups, spend } from './plan.ts'
import { encodeEvent } from './timeline-line.ts'

const TABLE = `create or replace table ceiling_events (
  business_id UUID, contact_id UUID, event_id UUID, event LowCardinality(String), occurred_ms Int64, received_ms Int64,
  type LowCardinality(String), value Nullable(Float64), currency LowCardinality(Nullable(String)),
  counted Decimal(38, 6), is_order UInt8, properties String, source LowCardinality(String),
  idempotency_key Nullable(String), visitor_id Nullable(String)
) engine = MergeTree order by (business_id, contact_id, occurred_ms, event_id)
settings fsync_after_insert = 1, fsync_part_directory = 1`

await serveTask(async ({ stores, traffic, groups, warmUp, events }: CeilingPlan) => {
  const clickhouse = connectClickHouse(stores.clickhouseUrl, { toPublic: true })
  await clickhouse.command({ query: TABLE })
  const inserts = (first: number, requests: number) =>
    inGroups(readFacts(traffic, first, requests).flat().map(encodeEvent), groups.insert)
  const warm = requestsFor(traffic, Math.min(warmUp, events))
  const measured = inserts(warm, requestsFor(traffic, events))
  for (const lines of inserts(0, warm)) await insert(lines)
  return {
    async run() {
      return await spend(events, async () => {
        for (const lines of measured) await insert(lines)
      })
    },
  }

  async function insert(lines: string[]): Promise<void> {
    const query = `insert into ceiling_events settings async_insert = 0 format JSONEachRow\n${lines.join('\n')}`
    await clickhouse.command({ query })
  }
})
