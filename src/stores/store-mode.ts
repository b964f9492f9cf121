/**
 * Refuses stores that answer, but that Sluice cannot use: a node of a Redis Cluster, a Sentinel, a read-only replica, a
 * standby of Postgres. With such a store, events could be accepted that no worker sees.
 */
import { sleep } from '../async/sleep.ts'
import { type Sql, connectPostgres } from './postgres.ts'
import type { Redis } from './redis.ts'

/** The message continues a sentence that begins with the name of the store. */
export class StoreModeError extends Error {
  override name = 'StoreModeError'
}

export async function refuseRedisMode(redis: Redis): Promise<void> {
  const info = await redis.info()
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1]
  const mode = field('redis_mode')
  if (mode === 'cluster' || field('cluster_enabled') === '1')
    throw new StoreModeError(
      'is a node of a cluster. Give a single server, a Sentinel, or several servers: docs/deploy.md.',
    )
  if (mode === 'sentinel')
    throw new StoreModeError(
      'is a Sentinel, which keeps no data. Give the address of the server, or one that follows its primary: docs/deploy.md.',
    )
  if (field('role') === 'slave')
    throw new StoreModeError('is a read-only replica. Give the address of its primary: docs/deploy.md.')
}

export async function refuseStandby(sql: Sql): Promise<void> {
  const [row] = await sql<[{ standby: boolean }]>`select pg_is_in_recovery() as standby`
  if (row.standby)
    throw new StoreModeError(
      'is a standby. Give the address of the primary, or all hosts separated by commas: docs/deploy.md.',
    )
}

/** A standby may be about to be promoted. */
export const STANDBY_MS = 10_000
const POLL_MS = 500

/** Rejects with StoreModeError when the address leads to a standby for 10 s. Other errors are left to the first query. */
export async function requirePrimary(databaseUrl: string): Promise<void> {
  const sql = connectPostgres(databaseUrl, { max: 1, name: 'sluice-probe' })
  const deadline = performance.now() + STANDBY_MS
  try {
    for (;;) {
      const error = await refuseStandby(sql).catch((found: unknown) => found)
      if (!(error instanceof StoreModeError)) return
      if (performance.now() > deadline) throw error
      await sleep(POLL_MS)
    }
  } finally {
    await sql.end({ timeout: 1 })
  }
}
