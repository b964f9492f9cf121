/** Forbidden targets of outbound connections, determined by the settings of this process. */
import { access } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { type StoreUrls, enginesFile } from '../stores/data-dir.ts'
import type { Queryable } from '../stores/postgres.ts'

export interface TargetGuard {
  /** Returns why addresses of this machine are refused; null when they are allowed, except on `ownPorts`. */
  refusesLoopback: () => Promise<string | null>
  /** Ports of this installation: refused on every address of this machine. */
  ownPorts: ReadonlySet<number>
  /** The stores as `host:port`: refused on any machine. */
  stores: ReadonlySet<string>
}

type GuardSettings = Pick<Config, 'port' | 'workerMetricsPort' | 'allowLoopbackTargets'> & Partial<StoreUrls>

const DEFAULT_PORTS: Record<string, number> = {
  postgres: 5432,
  postgresql: 5432,
  redis: 6379,
  rediss: 6379,
  http: 80,
  https: 443,
}

const REMEDY = 'ALLOW_LOOPBACK_TARGETS=true allows it'

/**
 * Returns the guard for a process whose settings contain the addresses of its stores. `sql`: where `alone` counts the
 * businesses.
 */
export function guardOf(config: GuardSettings, sql?: Queryable): TargetGuard {
  const stores = [config.databaseUrl, config.redisUrl, config.clickhouseUrl].flatMap((url) => serversOf(url ?? ''))
  const ports = [config.port, config.workerMetricsPort ?? 0, ...stores.map(({ port }) => port)]
  return {
    refusesLoopback: () => refusalOf(config.allowLoopbackTargets ?? false, sql),
    ownPorts: new Set(ports.filter((port) => port > 0)),
    stores: new Set(stores.map(({ host, port }) => `${host}:${port}`)),
  }
}

/** Owners of one business must not reach what belongs to others, or to the operator of all. */
async function refusalOf(allowed: boolean | 'alone', sql: Queryable | undefined): Promise<string | null> {
  if (allowed === true) return null
  if (allowed === 'alone' && sql !== undefined) {
    const [row] = await sql<{ many: number }[]>`
      select count(*)::int as many from businesses where removed_at is null and not demo`
    return (row?.many ?? 0) <= 1 ? null : `it is this machine, which several businesses share (${REMEDY})`
  }
  return `it is this machine (${REMEDY})`
}

/**
 * Returns the guard for a command. Like the processes of `start`, it allows loopback when DATA_DIR has engines of
 * `start`.
 */
export async function guardOfCommand(
  config: GuardSettings & Pick<Config, 'dataDir'>,
  sql: Queryable,
): Promise<TargetGuard> {
  const hasEngines = await access(enginesFile(config.dataDir)).then(
    () => true,
    () => false,
  )
  const byDefault = hasEngines ? 'alone' : false
  return guardOf({ ...config, allowLoopbackTargets: config.allowLoopbackTargets ?? byDefault }, sql)
}

/** The servers in a URL. A Postgres URL may list several. */
function serversOf(url: string): { host: string; port: number }[] {
  const [, scheme = '', hosts = ''] = /^(\w+):\/\/(?:[^/?#]*@)?([^/?#@]*)/.exec(url) ?? []
  return hosts
    .split(',')
    .filter((host) => host !== '')
    .map((host) => {
      const [, name = host, port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? []
      return { host: name.toLowerCase(), port: Number(port ?? DEFAULT_PORTS[scheme] ?? 0) }
    })
}
