import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import { entryOf } from '../../stream/derive-ids.ts'
import { streamKey } from '../../stream/keys.ts'
import { readPositions } from '../../stream/partitions/positions.ts'
import { compareIds } from '../../stream/stream-id.ts'

/**
 * Returns the events whose entries the streams still keep after the positions of this Postgres. The workers will apply
 * these again, so an import would count them twice.
 */
export async function findKept<Event extends { event_id: string }>(
  { sql, redis }: { sql: Sql; redis: Redis },
  events: Event[],
): Promise<Set<Event>> {
  const positions = await readPositions(sql)
  const kept = new Set<Event>()
  for (const event of events) {
    const entry = entryOf(event.event_id)
    const position = entry && positions.get(entry.partition)
    if (entry === undefined || position === undefined || compareIds(entry.streamId, position) <= 0) continue
    const found = await redis.xrange(streamKey(entry.partition), entry.streamId, entry.streamId)
    if (found.length > 0) kept.add(event)
  }
  return kept
}
