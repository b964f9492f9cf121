import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import { backlogKey, streamKey } from '../../stream/keys.ts'
import { leaseIsHeld } from '../../stream/lease.ts'
import { sleep } from '../../async/sleep.ts'
import { FIRST_ID, compareIds } from '../../stream/stream-id.ts'
import type { Difference } from './difference.ts'

export interface StreamCheckDeps {
  sql: Sql
  redis: Redis
  signal: AbortSignal
}

const SIGHTINGS = 5
const PAUSE_MS = 500

/** Compares positions with streams, and checks the shipper's groups. Returns the problems that were seen each time. */
export async function checkStreams({ sql, redis, signal }: StreamCheckDeps): Promise<Difference[]> {
  let left = await checkOnce(sql, redis)
  for (let sighting = 1; sighting < SIGHTINGS && left.length > 0; sighting += 1) {
    await sleep(PAUSE_MS, signal)
    const now = await checkOnce(sql, redis)
    left = left.filter((one) => now.some(({ name, note }) => name === one.name && note === one.note))
  }
  return left
}

async function checkOnce(sql: Sql, redis: Redis): Promise<Difference[]> {
  // Only partitions with a worker: the next worker of any other first raises the stream's last id to the position.
  const positions = await sql<{ partition: string; position: string }[]>`
    select partition, position from positions where ${leaseIsHeld(sql)} order by partition`
  const streams = await Promise.all(positions.map(({ partition, position }) => checkStream(redis, partition, position)))
  return [...streams.flat(), ...(await checkGroups(sql))]
}

/** The position was read before the stream, whose ids only grow. */
async function checkStream(redis: Redis, partition: string, position: string): Promise<Difference[]> {
  const lastId = await readLastId(redis, partition)
  const [waiting, counted] = [await redis.xlen(streamKey(partition)), await redis.hget(backlogKey(partition), 'total')]
  const about = { businessId: null, contactId: null, name: partition, clickhouse: null }
  return [
    ...(compareIds(lastId, position) < 0
      ? [
          {
            ...about,
            kind: 'redis' as const,
            postgres: `is at ${position}`,
            note: `its stream in Redis ends at ${lastId}`,
          },
        ]
      : []),
    ...(waiting === 0 && Number(counted) > 0
      ? [
          {
            ...about,
            kind: 'redis' as const,
            postgres: null,
            note: `${counted} bytes are counted as waiting, but nothing waits`,
          },
        ]
      : []),
  ]
}

async function readLastId(redis: Redis, partition: string): Promise<string> {
  if ((await redis.exists(streamKey(partition))) === 0) return FIRST_ID
  const info = (await redis.xinfo('STREAM', streamKey(partition))) as unknown[]
  return String(info[info.indexOf('last-generated-id') + 1])
}

/** Only one group is in flight at a time: the next one is stamped after it was marked as shipped. */
async function checkGroups(sql: Sql): Promise<Difference[]> {
  const groups = await sql<{ group_id: string }[]>`
    select distinct group_id from outbox where shipped_at is null and group_id is not null order by group_id`
  if (groups.length < 2) return []
  return [
    {
      kind: 'groups',
      businessId: null,
      contactId: null,
      name: 'outbox',
      postgres: `${groups.length} groups are in flight`,
      clickhouse: null,
      note: groups.map(({ group_id }) => group_id).join(', '),
    },
  ]
}
