import { randomUUID } from 'node:crypto'
import { sanitiseText } from '../rules/text.ts'
import type { Sql } from '../stores/postgres.ts'
import type { MicroBatch } from '../stream/micro-batch.ts'
import type { Unreadable } from './insert-hits.ts'
import type { Sighting } from './read-captures.ts'

/** Moves the position past a batch that ClickHouse has; false when it is not ours to move. */
export async function commitBatch(
  sql: Sql,
  batch: MicroBatch,
  unreadable: Unreadable[],
  sightings: Sighting[],
): Promise<boolean> {
  const { partition, epoch, from, to, poisoned, requests } = batch
  const letters = [...poisoned.map(letterOfPoisoned), ...unreadable.map(letterOfUnreadable)]
  const replayed = requests.flatMap(({ request }) => knownId(request.replayOf) ?? [])
  const [row] = await sql<[{ moved: boolean }]>`
    select commit_web_batch(${partition}, ${epoch}, ${from}, ${to}, ${JSON.stringify(letters)}::text::json,
      ${JSON.stringify(replayed)}::text::json, ${JSON.stringify(sightings)}::text::json) as moved`
  return row.moved
}

/** An entry that the front door did not write may name anything. */
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
const knownId = (text: string | undefined) => (text !== undefined && UUID.test(text) ? text : null)

function letterOfPoisoned({ streamId, businessId, reason, payload }: MicroBatch['poisoned'][number]) {
  return {
    id: randomUUID(),
    business_id: knownId(businessId),
    stream_id: streamId,
    kind: 'unreadable',
    reason,
    // Postgres holds neither NUL nor a lone surrogate.
    payload: sanitiseText(payload).text,
    received_at: null,
  }
}

function letterOfUnreadable({ streamId, request, reason }: Unreadable) {
  return {
    id: randomUUID(),
    business_id: request.businessId,
    stream_id: streamId,
    kind: request.kind,
    reason,
    payload: JSON.stringify(request),
    received_at: request.receivedAt,
  }
}
