/** Whether this front door can do its work now. */
import { pendingMigrations } from '../migrate.ts'
import { unattendedPartitions } from '../stream/positions.ts'
import type { Door } from './door.ts'

const PATIENCE_MS = 2_000

export interface Readiness {
  /** What keeps requests from being taken and applied. */
  blocking: string[]
  /** What delays analytics, and fails no request: ClickHouse. */
  degraded: string[]
}

export async function checkReadiness(door: Door): Promise<Readiness> {
  const [postgres, clickhouse] = await Promise.all([
    describeTrouble('postgres', () => checkPostgres(door)),
    describeTrouble('clickhouse', () => checkClickHouse(door)),
  ])
  const redis = door.submitter.isOpen() ? [] : ['redis: requests cannot be put on the road']
  return { blocking: [...postgres, ...redis], degraded: clickhouse }
}

async function checkPostgres({ sql }: Door): Promise<string[]> {
  const pending = await pendingMigrations(sql)
  const unattended = pending.length === 0 ? await unattendedPartitions(sql) : []
  return [
    ...pending.map((name) => `migrations: ${name} is not applied`),
    ...unattended.map((partition) => `workers: nobody works on ${partition}`),
  ]
}

async function checkClickHouse({ clickhouse }: Door): Promise<string[]> {
  const { success } = await clickhouse.ping({ select: true })
  return success ? [] : ['clickhouse: not reachable']
}

/** A store that fails or hangs is a trouble like any other. */
async function describeTrouble(name: string, check: () => Promise<string[]>): Promise<string[]> {
  const { promise: late, resolve } = Promise.withResolvers<string[]>()
  const timer = setTimeout(() => resolve([`${name}: no answer`]), PATIENCE_MS)
  try {
    return await Promise.race([check(), late])
  } catch {
    return [`${name}: not reachable`]
  } finally {
    clearTimeout(timer)
  }
}
