/** Reads how many bytes of requests wait in the streams for a worker, and for how long. */
import { readKept } from '../../stream/consume/kept.ts'
import { backlogKey, streamKey } from '../../stream/keys.ts'
import { readPositions } from '../../stream/partitions/positions.ts'
import type { AppContext } from '../app-context.ts'

type Deps = Pick<AppContext, 'sql' | 'redis' | 'now'>

export interface Backlog {
  partition: string
  bytes: number
  /** Age of the oldest waiting request; 0 when none waits. */
  ageMs: number
  /** Size of the applied requests that the stream keeps (STREAM_KEEP). */
  keptBytes: number
}

export async function readBacklogs(deps: Deps): Promise<Backlog[]> {
  const positions = await readPositions(deps.sql)
  return Promise.all([...positions].map(([partition, position]) => readBacklog(deps, partition, position)))
}

/**
 * The age of an entry is that of its id: the demo submits requests of the past. After a clock was set back, the id may be
 * later than now. Then the age is that of the first request in the entry.
 */
async function readBacklog({ redis, now }: Deps, partition: string, position: string): Promise<Backlog> {
  const [bytes, [oldest], kept] = await Promise.all([
    redis.hget(backlogKey(partition), 'total'),
    redis.xrange(streamKey(partition), `(${position}`, '+', 'COUNT', 1),
    readKept(redis, partition),
  ])
  const at = now()
  const [id, fields] = oldest ?? [String(at), []]
  const addedAt = Number(id.split('-')[0])
  const receivedAt = Number(/"receivedAt":(\d+)/.exec(fields[1] ?? '')?.[1] ?? addedAt)
  const since = addedAt <= at ? addedAt : receivedAt
  return { partition, bytes: Number(bytes ?? 0), ageMs: Math.max(0, at - since), keptBytes: kept.bytes }
}
