/** Kinds of differences that are found once for all businesses: tables, businesses, streams and groups. */
import { listClickHouse } from '../../migrate/migrate.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import { readKept } from '../../stream/consume/kept.ts'
import { backlogKey, streamKey } from '../../stream/keys.ts'
import { leaseIsHeld } from '../../stream/leases/lease.ts'
import { FIRST_ID, compareIds } from '../../stream/stream-id.ts'
import { type Difference, differenceOf, type Kind, type SystemKind } from './kind.ts'
import { queryClickHouse } from './query-clickhouse.ts'

export const TABLE: Kind = { name: 'table', values: 'none' }

/** Returns tables and views that ClickHouse lacks. Nothing can be compared unless all of them exist. */
export async function findMissingTables(clickhouse: ClickHouseClient): Promise<Difference[]> {
  const { databases } = clickhouse
  const rows = await queryClickHouse<{ database: string; name: string }>(
    clickhouse,
    `select database, name from system.tables where database in (${Object.values(databases).map(textLiteral).join(', ')})`,
  )
  const there = new Set(rows.map(({ database, name }) => `${database}.${name}`))
  return (await listClickHouse())
    .map(({ database, name }) => `${databases[database]}.${name}`)
    .filter((name) => !there.has(name))
    .map((name) => differenceOf('table', { name, note: 'ClickHouse does not have this table or view' }))
}

/** Returns the ids of all businesses, including removed ones, because their data stays. */
export async function listBusinesses(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from businesses order by id`
  return rows.map(({ id }) => id)
}

/**
 * Returns businesses that have data in ClickHouse but do not exist in Postgres. Reads ClickHouse first, because a
 * business may be new.
 */
export async function listUnknownBusinesses(sql: Sql, clickhouse: ClickHouseClient): Promise<string[]> {
  const rows = await queryClickHouse<{ id: string }>(
    clickhouse,
    `select distinct toString(business_id) as id from (
      select business_id from events group by business_id
      union all select business_id from event_statistics group by business_id
      union all select business_id from contact_snapshots group by business_id
    )`,
  )
  const known = new Set(await listBusinesses(sql))
  return rows.map(({ id }) => id).filter((id) => !known.has(id))
}

export const BUSINESS: SystemKind = {
  name: 'business',
  values: 'none',
  sightings: 1,
  find: async ({ sql, clickhouse }) =>
    (await listUnknownBusinesses(sql, clickhouse)).map((businessId) => ({
      businessId,
      clickhouse: 'has data',
      note: 'Postgres does not know this business',
    })),
}

/** The position of a partition in Postgres must fit its stream in Redis. */
export const REDIS: SystemKind = {
  name: 'partition',
  values: 'own',
  sightings: 5,
  async find({ sql, redis }) {
    // Reads only partitions with a worker. In any other, the next worker first raises the stream's last id to the
    // position.
    const positions = await sql<{ partition: string; position: string }[]>`
      select partition, position from positions where ${leaseIsHeld(sql)} order by partition`
    return (await Promise.all(positions.map((one) => checkStream(redis, one.partition, one.position)))).flat()
  },
}

/** The position was read before the stream, whose ids only grow. */
async function checkStream(redis: Redis, name: string, position: string): Promise<Partial<Difference>[]> {
  const lastId = await readLastId(redis, name)
  const [first] = await redis.xrange(streamKey(name), `(${position}`, '+', 'COUNT', 1)
  const counted = await redis.hget(backlogKey(name), 'total')
  const { trimmed } = await readKept(redis, name)
  const isLost = compareIds(trimmed, position) > 0
  const isBehind = compareIds(lastId, position) < 0
  const note = `${counted} bytes are counted as waiting, but nothing waits`
  return [
    ...(isBehind ? [{ name, postgres: `is at ${position}`, note: `its stream in Redis ends at ${lastId}` }] : []),
    ...(isLost
      ? [{ name, postgres: `is at ${position}`, note: `commits up to ${trimmed} are lost: run admin recover` }]
      : []),
    ...(first === undefined && Number(counted) > 0 ? [{ name, note }] : []),
  ]
}

async function readLastId(redis: Redis, partition: string): Promise<string> {
  if ((await redis.exists(streamKey(partition))) === 0) return FIRST_ID
  const info = (await redis.xinfo('STREAM', streamKey(partition))) as unknown[]
  return String(info[info.indexOf('last-generated-id') + 1])
}

/** Only one group may be in flight at a time, because the next one is stamped after it was marked as shipped. */
export const GROUPS: SystemKind = {
  name: 'groups',
  values: 'own',
  sightings: 5,
  async find({ sql }) {
    const rows = await sql<{ group_id: string }[]>`
      select distinct group_id from outbox where shipped_at is null and group_id is not null order by group_id`
    const note = rows.map(({ group_id }) => group_id).join(', ')
    return rows.length < 2 ? [] : [{ name: 'outbox', postgres: `${rows.length} groups are in flight`, note }]
  },
}
