import type { Sql } from '../stores/postgres.ts'
import { composeDeadLetter, composeUnreadable, replayedBy } from '../stream/compose-dead-letter.ts'
import type { CaptureRequest } from '../stream/entry.ts'
import type { MicroBatch } from '../stream/micro-batch.ts'
import type { Sighting } from './read-captures.ts'

/** A capture that ClickHouse cannot read, or that belongs to an inactive business. */
export interface RejectedCapture {
  streamId: string
  request: CaptureRequest
  reason: string
}

/** Moves the position past a batch that ClickHouse has. Resolves with false when another owner has the partition. */
export async function commitBatch(
  sql: Sql,
  batch: MicroBatch,
  setAside: RejectedCapture[],
  sightings: Sighting[],
): Promise<boolean> {
  const { partition, epoch, from, to } = batch
  const letters = [
    ...batch.poisoned.map(composeUnreadable),
    ...setAside.map(({ streamId, request, reason }) => composeDeadLetter(streamId, request, reason)),
  ]
  const [row] = await sql<[{ moved: boolean }]>`
    select commit_web_batch(${partition}, ${epoch}, ${from}, ${to}, ${JSON.stringify(letters)}::text::json,
      ${JSON.stringify(replayedBy(batch))}::text::json, ${JSON.stringify(sightings)}::text::json) as moved`
  return row.moved
}
