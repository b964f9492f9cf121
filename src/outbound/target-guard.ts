/** Forbidden targets of outbound connections, determined by the settings of this process. */
import { access } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { type StoreUrls, enginesFile } from '../stores/data-dir.ts'

export interface TargetGuard {
  /** Whether addresses of this machine are allowed, except on `ownPorts`. */
  allowsLoopback: boolean
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

/** Returns the guard for a process whose settings contain the addresses of its stores. */
export function guardOf(config: GuardSettings): TargetGuard {
  const stores = [config.databaseUrl, config.redisUrl, config.clickhouseUrl].flatMap((url) => serversOf(url ?? ''))
  const ports = [config.port, config.workerMetricsPort ?? 0, ...stores.map(({ port }) => port)]
  return {
    allowsLoopback: config.allowLoopbackTargets ?? false,
    ownPorts: new Set(ports.filter((port) => port > 0)),
    stores: new Set(stores.map(({ host, port }) => `${host}:${port}`)),
  }
}

/**
 * Returns the guard for a command. Like the processes of `start`, it allows loopback when DATA_DIR has engines of
 * `start`.
 */
export async function guardOfCommand(config: GuardSettings & Pick<Config, 'dataDir'>): Promise<TargetGuard> {
  const hasEngines = await access(enginesFile(config.dataDir)).then(
    () => true,
    () => false,
  )
  return guardOf({ ...config, allowLoopbackTargets: config.allowLoopbackTargets ?? hasEngines })
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
