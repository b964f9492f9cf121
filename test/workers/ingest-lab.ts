/**
 * Front doors and workers around a real Redis and Postgres. Their save records who applied what, and moves the position
 * as the real one does.
 */
import { uuidv7 } from 'uuidv7'
import { vi } from 'vitest'
import { createLogger } from '../../src/log.ts'
import type { Metrics } from '../../src/metrics.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import { type Redis, type RedisRole, connectRedis } from '../../src/stores/redis.ts'
import type { IngestRequest } from '../../src/stream/entry.ts'
import { backlogKey, streamKey } from '../../src/stream/keys.ts'
import type { ApplyMicroBatch, MicroBatch, Outcome } from '../../src/stream/micro-batch.ts'
import {
  PARTITION_KINDS,
  type PartitionKind,
  allPartitions,
  partitionOf,
} from '../../src/stream/partitions/partition-of.ts'
import { type IngestLoops, startIngestLoops } from '../../src/stream/consume/start-ingest-loops.ts'
import type { Health } from '../../src/stream/consume/watch-loops.ts'
import { type NewIngestRequest, type Submitter, createSubmitter } from '../../src/stream/publish/submit.ts'
import { batch, eventFact, track } from '../support/facts.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

export const PARTITIONS = 2
export const log = createLogger({ level: 'silent', name: 'test' })

export interface IngestLab {
  sql: Sql
  redis: Redis
  connect: (role: RedisRole) => Redis
  /** Opens a front door that is ready for requests. */
  frontDoor(config?: FrontDoorConfig): Promise<Submitter>
  worker(owner: string, config?: WorkerConfig): IngestLoops
  /** Returns the request ids in the order in which they were applied. */
  applied(partition?: string): Promise<string[]>
  backlog(partition: string): Promise<Record<string, string>>
  length(partition: string): Promise<number>
  close(): Promise<void>
}
interface FrontDoorConfig {
  answerTimeoutMs?: number
  backlogLimitBytes?: number
  maxInFlight?: number
  /** Replaces the Redis that the lab was opened with, for example by a proxy. */
  publishUrl?: string
  subscribeUrl?: string
}
interface WorkerConfig {
  /** Default: all. */
  kinds?: readonly PartitionKind[]
  leaseMs?: number
  cutOffMs?: number
  returnGraceMs?: number
  apply?: ApplyMicroBatch
  metrics?: Metrics
  onHealth?: (health: Health) => void
  /** Replaces the Redis that the lab was opened with, for example by a proxy. */
  commandUrl?: string
  readUrl?: string
}

/** Opens empty streams, and partitions at their first positions. */
export async function openIngestLab(sql: Sql, redisUrl: string): Promise<IngestLab> {
  const connections: Redis[] = []
  const frontDoors: Submitter[] = []
  const workers: IngestLoops[] = []
  const connect = (role: RedisRole, url = redisUrl): Redis => {
    const redis = connectRedis(url, role)
    connections.push(redis)
    return redis
  }
  const redis = connect('command')
  await redis.flushdb()
  await resetPositions(sql)

  return {
    sql,
    redis,
    connect,
    async frontDoor({ publishUrl, subscribeUrl, ...config } = {}) {
      const frontDoor = createSubmitter(
        {
          sql,
          log,
          redis: {
            publish: connect('publish', publishUrl),
            subscribe: connect('subscribe', subscribeUrl),
            command: redis,
          },
        },
        { answerTimeoutMs: 5000, backlogLimitBytes: 2 ** 28, maxInFlight: 10_000, ...config },
      )
      frontDoors.push(frontDoor)
      await vi.waitUntil(() => frontDoor.isOpen(), { timeout: PATIENCE_MS, interval: 2 })
      return frontDoor
    },
    worker(
      owner,
      { kinds = PARTITION_KINDS, leaseMs = 2000, apply, metrics, onHealth, commandUrl, readUrl, ...times } = {},
    ) {
      const connectReader = () => connect('read', readUrl)
      const worker = startIngestLoops(
        {
          sql,
          redis: commandUrl === undefined ? redis : connect('command', commandUrl),
          connectReader,
          apply: apply ?? ((batch) => applyOnce(sql, batch, owner)),
          log,
          ...(metrics && { metrics }),
        },
        { owner, kinds, leaseMs, ...times, ...(onHealth && { onHealth }) },
      )
      workers.push(worker)
      return worker
    },
    applied: async (partition) => {
      const rows = await sql<{ request_id: string }[]>`
        select request_id from applied ${partition === undefined ? sql`` : sql`where partition = ${partition}`} order by id`
      return rows.map((row) => row.request_id)
    },
    backlog: (partition) => redis.hgetall(backlogKey(partition)),
    length: (partition) => redis.xlen(streamKey(partition)),
    async close() {
      await Promise.all(frontDoors.map((frontDoor) => frontDoor.close()))
      await Promise.allSettled(workers.map((worker) => worker.stop()))
      for (const connection of connections) connection.disconnect()
    },
  }
}

async function resetPositions(sql: Sql): Promise<void> {
  await sql`
    create table if not exists applied (
      id bigint generated always as identity, partition text, stream_id text, request_id text, owner text)`
  await sql`truncate applied`
  await sql`truncate positions`
  await sql`
    update partitioning set partitions = ${PARTITIONS}, closed = '{}', change_to = null, change_until = null,
      position_floor = '0-0', epoch_floor = 0`
  for (const partition of allPartitions(PARTITIONS)) await sql`insert into positions (partition) values (${partition})`
}

/** Writes effect and position in one statement. Fenced when the position is not where this batch begins. */
export async function applyOnce(
  sql: Sql,
  { partition, epoch, from, to, requests }: MicroBatch,
  owner = '',
): Promise<Outcome> {
  const ids = `{${requests.map(({ request }) => request.requestId).join(',')}}`
  const [moved] = await sql`
    with moved as (
      update positions set position = ${to}
      where partition = ${partition} and epoch = ${epoch} and position = ${from} returning partition
    ), recorded as (
      insert into applied (partition, stream_id, request_id, owner)
      select partition, ${to}, request_id, ${owner} from moved, unnest(${ids}::text[]) request_id
    )
    select partition from moved`
  if (!moved) return { kind: 'fenced' }
  const answers = requests.map(({ frontDoor, request }) => ({
    frontDoor,
    n: request.n,
    answer: answerOf(request.requestId),
  }))
  return { kind: 'applied', answers }
}

export const answerOf = (contactId: string) => ({
  contactId,
  isNew: true,
  deduped: false,
  interpreted: { type: 'none' as const, countedRevenue: 0 },
  warnings: [],
})

/** Returns a business whose live events go to this partition, out of `partitions`. */
export function businessOf(partition: string, partitions = PARTITIONS): string {
  for (;;) {
    const businessId = uuidv7()
    if (partitionOf('live', businessId, partitions) === partition) return businessId
  }
}

type NewTrack = Omit<Extract<IngestRequest, { kind: 'track' }>, 'n'>

export function event(requestId: string, businessId: string, size = 0): NewTrack {
  const fact = eventFact('viewed', { email: 'ann@x.io' }, { properties: JSON.stringify({ text: 'x'.repeat(size) }) })
  return { ...track(businessId, fact), requestId } as NewTrack
}

export function batchOf(requestId: string, businessId: string, items: number): NewIngestRequest {
  const facts = Array.from({ length: items }, () => eventFact('viewed', { email: 'ann@x.io' }))
  return { ...batch(businessId, facts), requestId }
}

export const bytesOf = (request: NewIngestRequest, n: number): number =>
  Buffer.byteLength(JSON.stringify({ ...request, n }))

export const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}`)
