/** Whether this front door can do its work now. */
import { type Readiness } from './readiness.ts'
import { pendingMigrations, readNewerVersion } from '../../migrate/migrate.ts'
import { readPartitionMap } from '../../stream/partition-map.ts'
import { findStalled } from '../../stream/stalled-partitions.ts'
import { describeStalled } from '../../stream/watch-loops.ts'
import { stuckPartitions, unattendedPartitions } from '../../stream/positions.ts'
import { describeDurability, readDurability } from '../../stores/redis-durability.ts'
import { readPersistence } from '../../stream/read-persistence.ts'
import { readShippingFailure } from '../../timeline/shipping-status.ts'
import { VERSION } from '../../version.ts'
import { queryStore } from '../access/query-store.ts'
import type { AppContext } from '../app-context.ts'

type Asked = Pick<AppContext, 'sql' | 'redis' | 'clickhouse' | 'readDisks'>

/** `isOpen`: whether requests can be put on the road. */
export async function checkReadiness(app: Asked, isOpen: boolean): Promise<Readiness> {
  const [postgres, redis, clickhouse, disks, stalled] = await Promise.all([
    describeTrouble('postgres', () => checkPostgres(app)),
    describeTrouble('redis', () => checkRedis(app, isOpen)),
    describeTrouble('clickhouse', () => checkClickHouse(app)),
    checkDisks(app),
    // A store that is away is named above.
    queryStore(() => findStalled(app)).catch(() => []),
  ])
  return {
    blocking: [...postgres.blocking, ...redis.blocking],
    degraded: [
      ...redis.degraded,
      ...clickhouse.blocking,
      ...postgres.degraded,
      ...stalled.map(describeStalled),
      ...disks,
    ],
  }
}

async function checkPostgres({ sql }: Asked): Promise<Readiness> {
  const pending = await pendingMigrations(sql)
  if (pending.length > 0) return { blocking: pending.map((name) => `migrations: ${name} is not applied`), degraded: [] }
  const [newer, unattended, trouble, partitionMap, stuck] = await Promise.all([
    readNewerVersion(sql),
    unattendedPartitions(sql),
    readShippingFailure(sql),
    readPartitionMap(sql),
    stuckPartitions(sql),
  ])
  const { change, closed } = partitionMap
  return {
    blocking: unattended.map((partition) => `workers: nobody works on ${partition}`),
    degraded: [
      ...(newer === undefined
        ? []
        : [`version: the database is at ${newer}, this front door at ${VERSION}: replace it`]),
      ...(change ? [`partitions: on the way to ${change.to} of each kind; closed: ${[...closed].join(', ')}`] : []),
      ...(trouble === undefined ? [] : [trouble]),
      ...stuck.map(({ partition, seconds }) => `web events: ${partition} has waited for ClickHouse for ${seconds} s`),
    ],
  }
}

async function checkRedis({ redis }: Asked, isOpen: boolean): Promise<Readiness> {
  const [persistence, durability] = await Promise.all([readPersistence(redis), readDurability(redis)])
  const blocking = isOpen ? [] : ['redis: requests cannot be put on the road']
  if (!persistence.aof_write) blocking.push('redis: it cannot write its append-only file, and refuses requests')
  const degraded = describeDurability(durability)
  if (!persistence.aof_rewrite) degraded.push('redis: its append-only file could not be rewritten, and grows')
  if (!persistence.rdb_save) degraded.push('redis: its last snapshot failed; it may refuse requests')
  return { blocking, degraded }
}

async function checkClickHouse({ clickhouse }: Asked): Promise<Readiness> {
  const { success } = await clickhouse.ping({ select: true })
  return { blocking: success ? [] : ['clickhouse: not reachable'], degraded: [] }
}

/** A store that fails or hangs is a trouble like any other. */
async function describeTrouble(name: string, check: () => Promise<Readiness>): Promise<Readiness> {
  return queryStore(check).catch((error: Error) => ({ blocking: [`${name}: ${error.message}`], degraded: [] }))
}

const MEGABYTE = 1024 * 1024

async function checkDisks(app: Asked): Promise<string[]> {
  const low = (await app.readDisks()).filter(({ isLow }) => isLow)
  return low.map(({ store, freeBytes }) => `${store}: ${Math.floor(freeBytes / MEGABYTE)} MiB are left on its disk`)
}
