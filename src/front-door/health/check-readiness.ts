/** Checks whether this front door can do its work now. */
import { type Readiness } from './readiness.ts'
import { pendingMigrations, readNewerVersion } from '../../migrate/migrate.ts'
import { readPartitionMap } from '../../stream/partitions/partition-map.ts'
import { findStalled } from '../../stream/consume/stalled-partitions.ts'
import { describeStalled } from '../../stream/consume/watch-loops.ts'
import { OLDER_THAN_REDIS, findLost, readKept } from '../../stream/consume/kept.ts'
import { readPositions, stuckWebPartitions, unownedPartitions } from '../../stream/partitions/positions.ts'
import { describeDurability, readDurability } from '../../stores/redis-durability.ts'
import { findWriteRefusal } from '../../stream/publish/find-write-refusal.ts'
import { readPersistence } from '../../stream/read-persistence.ts'
import { readOutboxLag } from '../../timeline/shipping/observe-outbox.ts'
import { readShippingFailure } from '../../timeline/shipping/shipping-status.ts'
import type { StoreName } from '../../rules/lateness.ts'
import { VERSION } from '../../version.ts'
import { NO_CONNECTION, queryStore } from '../access/query-store.ts'
import type { AppContext } from '../app-context.ts'

const NOTHING: Readiness = { blocking: [], degraded: [] }

type ReadinessDeps = Pick<AppContext, 'sql' | 'redis' | 'clickhouse' | 'readDisks' | 'storeWatch'>

/** Charts, counts and timelines are noticeably old. */
const BEHIND_SECONDS = 60

export const STREAMS_CLOSED = 'redis: requests cannot be written to its streams'

/** `isOpen`: whether requests can be written to the streams. */
export async function checkReadiness(app: ReadinessDeps, isOpen: boolean): Promise<Readiness> {
  const [postgres, redis, clickhouse, disks, stalled, kept] = await Promise.all([
    checkStore('postgres', () => checkPostgres(app)),
    checkStore('redis', () => checkRedis(app, isOpen)),
    checkStore('clickhouse', () => checkClickHouse(app)),
    checkDisks(app),
    // The checks of the stores already report one that does not answer.
    queryStore(() => findStalled(app)).catch(() => []),
    queryStore(() => checkKept(app)).catch(() => NOTHING),
  ])
  return {
    blocking: [...postgres.blocking, ...redis.blocking, ...kept.blocking],
    degraded: [
      ...redis.degraded,
      ...clickhouse.blocking,
      ...postgres.degraded,
      ...app.storeWatch.late().map((store) => describeLate(store, app.storeWatch.lateSince(store))),
      ...stalled.map(describeStalled),
      ...kept.degraded,
      ...disks,
    ],
  }
}

const CONSEQUENCES: Record<StoreName, string> = {
  redis: 'calls are slow',
  postgres: 'calls are slow, or answered with 202',
  clickhouse: 'charts and previews may fail, and counts are late',
}

const describeLate = (store: StoreName, since: number | null): string =>
  `${store}: it answers too late since ${new Date(since ?? 0).toISOString()}; ${CONSEQUENCES[store]}`

async function checkPostgres({ sql }: ReadinessDeps): Promise<Readiness> {
  const pending = await pendingMigrations(sql)
  if (pending.length > 0) return { blocking: pending.map((name) => `migrations: ${name} is not applied`), degraded: [] }
  const [newer, unattended, shippingFailure, partitionMap, stuck, lag] = await Promise.all([
    readNewerVersion(sql),
    unownedPartitions(sql),
    readShippingFailure(sql),
    readPartitionMap(sql),
    stuckWebPartitions(sql),
    readOutboxLag(sql),
  ])
  const { change, closed } = partitionMap
  return {
    blocking: unattended.map((partition) => `workers: no worker has ${partition}`),
    degraded: [
      ...(newer === undefined
        ? []
        : [`version: the database is at ${newer}, this front door at ${VERSION}; upgrade this front door`]),
      ...(change ? [`partitions: changing to ${change.to} of each kind; closed: ${[...closed].join(', ')}`] : []),
      ...(shippingFailure === undefined ? [] : [shippingFailure]),
      ...(lag.seconds > BEHIND_SECONDS ? [`timeline: ClickHouse is ${Math.round(lag.seconds)} s behind`] : []),
      ...stuck.map(({ partition, seconds }) => `web events: ${partition} has waited for ClickHouse for ${seconds} s`),
    ],
  }
}

async function checkRedis({ redis }: ReadinessDeps, isOpen: boolean): Promise<Readiness> {
  const [persistence, durability, refusal] = await Promise.all([
    readPersistence(redis),
    readDurability(redis),
    findWriteRefusal(redis),
  ])
  const blocking = isOpen ? [] : [STREAMS_CLOSED]
  if (refusal !== undefined) blocking.push(`redis: it refuses writes: ${refusal}`)
  if (!persistence.aof_write)
    blocking.push('redis: it cannot write its append-only file, and rejects requests; check its disk')
  const degraded = describeDurability(durability)
  if (!persistence.aof_rewrite) degraded.push('redis: its append-only file could not be rewritten, and keeps growing')
  if (!persistence.rdb_save) degraded.push('redis: its last snapshot failed; it may reject requests')
  return { blocking, degraded }
}

/** For this long, /readyz shows that Redis has deleted applied entries before their time. */
const EARLY_MS = 60_000

/** Whether Postgres is older than Redis, and whether a failover of Postgres could lose commits. */
async function checkKept({ sql, redis }: ReadinessDeps): Promise<Readiness> {
  const positions = await readPositions(sql)
  const lost = await findLost(redis, positions)
  const kept = await Promise.all([...positions.keys()].map((partition) => readKept(redis, partition)))
  const isEarly = kept.some(({ earlyAt }) => Date.now() - earlyAt < EARLY_MS)
  return {
    blocking: lost.length > 0 ? [OLDER_THAN_REDIS] : [],
    degraded: isEarly
      ? ['redis: applied requests are kept for less than STREAM_KEEP: a failover of Postgres could lose events']
      : [],
  }
}

async function checkClickHouse({ clickhouse }: ReadinessDeps): Promise<Readiness> {
  const { success } = await clickhouse.ping({ select: true })
  return { blocking: success ? [] : ['clickhouse: not reachable'], degraded: [] }
}

/**
 * Reports a store that fails or hangs as blocking, with its error as the reason. Calls are still answered while Postgres
 * has no connection to spare.
 */
async function checkStore(name: string, check: () => Promise<Readiness>): Promise<Readiness> {
  return queryStore(check).catch(({ message }: Error) => {
    const found = [`${name}: ${message}`]
    return message === NO_CONNECTION ? { blocking: [], degraded: found } : { blocking: found, degraded: [] }
  })
}

const MEGABYTE = 1024 * 1024

async function checkDisks(app: ReadinessDeps): Promise<string[]> {
  const low = (await app.readDisks()).filter(({ isLow }) => isLow)
  return low.map(({ store, freeBytes }) => `${store}: ${Math.floor(freeBytes / MEGABYTE)} MiB are left on its disk`)
}
