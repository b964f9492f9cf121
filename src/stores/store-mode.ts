/**
 * Refuses stores that answer, but that Sluice cannot use: a node of a Redis Cluster, a Sentinel, a read-only replica, a
 * standby of Postgres. With such a store, events could be accepted that no worker sees.
 */
import { sleep } from '../async/sleep.ts'
import { PROBED_SETTINGS, type Sql, connectPostgres } from './postgres.ts'
import type { Redis } from './redis.ts'

/** The message continues a sentence that begins with the name of the store. */
export class StoreModeError extends Error {
  override name = 'StoreModeError'
  /** True for a state that may end by itself, as that of a standby does with its promotion. */
  readonly mayPass: boolean

  constructor(message: string, mayPass = false) {
    super(message)
    this.mayPass = mayPass
  }
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

/** One connection that has all settings that any part of Sluice uses. */
export const connectProbe = (url: string): Sql =>
  connectPostgres(url, { max: 1, name: 'sluice-probe', settings: PROBED_SETTINGS })

/** Refuses a standby, and a pooler in front of Postgres that does not pass on settings. `sql`: `connectProbe`. */
export async function refusePostgresMode(sql: Sql): Promise<void> {
  const [row] = await readProbe(sql)
  const lost = Object.entries(PROBED_SETTINGS).filter(([name, value]) => row?.settings[name] !== value)
  if (lost.length > 0) throw withoutSettings(lost.map(([name]) => name).join(', '))
  if (row?.standby)
    throw new StoreModeError(
      'is a standby. Give the address of the primary, or all hosts separated by commas: docs/deploy.md.',
      true,
    )
}

const withoutSettings = (which: string): StoreModeError =>
  new StoreModeError(
    `does not take settings of connections (${which}): a pooler stands in front of it, such as pgbouncer. ` +
      'Give the address of Postgres itself: docs/deploy.md.',
  )

async function readProbe(sql: Sql): Promise<{ standby: boolean; settings: Record<string, string> }[]> {
  try {
    return await sql<{ standby: boolean; settings: Record<string, string> }[]>`
      select pg_is_in_recovery() as standby, json_object_agg(name, current_setting(name, true)) as settings
      from json_array_elements_text(${JSON.stringify(Object.keys(PROBED_SETTINGS))}::text::json) as name`
  } catch (error) {
    const [, name] = /startup parameter:? "?([\w.]+)/.exec(error instanceof Error ? error.message : '') ?? []
    throw name === undefined ? error : withoutSettings(name)
  }
}

/** A standby may be about to be promoted. */
export const STANDBY_MS = 10_000
const POLL_MS = 500

/** Rejects with StoreModeError for a pooler, and when the address leads to a standby for 10 s. Other errors are left to the first query. */
export async function requirePrimary(databaseUrl: string): Promise<void> {
  const sql = connectProbe(databaseUrl)
  const deadline = performance.now() + STANDBY_MS
  try {
    for (;;) {
      const error = await refusePostgresMode(sql).catch((found: unknown) => found)
      if (!(error instanceof StoreModeError)) return
      if (performance.now() > deadline || !error.mayPass) throw error
      await sleep(POLL_MS)
    }
  } finally {
    await sql.end({ timeout: 1 })
  }
}
