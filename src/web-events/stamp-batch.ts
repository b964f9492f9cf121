import type { Sql } from '../stores/postgres.ts'
import type { MicroBatch } from '../stream/micro-batch.ts'
import { type ExcludedCaptures, visitorsOf } from './read-captures.ts'

export type StampResult =
  | ({ kind: 'stamped' } & ExcludedCaptures)
  /** An earlier attempt has moved the position, and only its reply was lost. */
  | { kind: 'committed' }
  /** Another owner has the partition. */
  | { kind: 'fenced' }

/** Records in Postgres that exactly this batch will be sent to ClickHouse, before it is sent. */
export async function stampBatch(sql: Sql, batch: MicroBatch): Promise<StampResult> {
  const { partition, epoch, from, to } = batch
  const visitors = JSON.stringify(visitorsOf(batch))
  const [row] = await sql<[{ leftOut: ExcludedCaptures | null }]>`
    select stamp_web_batch(${partition}, ${epoch}, ${from}, ${to}, ${visitors}::text::json) as "leftOut"`
  if (row.leftOut) return { kind: 'stamped', ...row.leftOut }
  const committed = await sql`
    select from positions where partition = ${partition} and epoch = ${epoch} and position = ${to}`
  return { kind: committed.count === 1 ? 'committed' : 'fenced' }
}
