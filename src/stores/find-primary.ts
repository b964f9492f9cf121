/**
 * Finds the primary among several hosts of DATABASE_URL, also while another one is starting, away, or a standby. The
 * driver itself would open connections to the hosts in turn, and would wait for ever while none accepts it.
 */
import postgres from 'postgres'

export interface Host {
  host: string
  port: number
}

/** What a connection needs besides the address, as in the driver's options. */
export interface Login {
  user: string
  pass: string | (() => string | Promise<string>) | null
  database: string
  ssl: boolean | object | string
}

/** Splits an address with several hosts: the first one remains in the URL. */
export function splitHosts(url: string): { url: string; hosts: Host[] } {
  const [, before = '', authority = '', after = ''] = /^(\w+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? []
  const [first = '', ...others] = authority.split(',')
  if (others.length === 0) return { url, hosts: [] }
  // The driver waits for ever for a server with these attributes.
  const rest = after.replace(/([?&])target_session_attrs=[^&#]*&?/, '$1').replace(/[?&]$/, '')
  return { url: before + first + rest, hosts: [first, ...others].map(readHost) }
}

function readHost(text: string): Host {
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(text) ?? []
  return { host: decodeURIComponent(host).replace(/^\[|\]$/g, ''), port: Number(port ?? 5432) }
}

const PROBE_SECONDS = 2
/** Connections that are opened together need one search. */
const FRESH_MS = 1000

/** Returns a function that finds the primary; undefined when no host says that it is the primary. */
export function primaryFinder(hosts: Host[]): (login: Login) => Promise<Host | undefined> {
  let last: { at: number; found: Promise<Host | undefined> } | undefined
  return (login) => {
    if (!last || performance.now() - last.at > FRESH_MS)
      last = {
        at: performance.now(),
        found: Promise.any(hosts.map((host) => requirePrimary(host, login))).catch(() => undefined),
      }
    return last.found
  }
}

async function requirePrimary({ host, port }: Host, { user, pass, database, ssl }: Login): Promise<Host> {
  const sql = postgres({
    host,
    port,
    user,
    pass: pass ?? '',
    database,
    ssl: ssl as boolean,
    max: 1,
    connect_timeout: PROBE_SECONDS,
    fetch_types: false,
    connection: { application_name: 'sluice-find-primary' },
  } as postgres.Options<Record<string, never>>)
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no answer')), PROBE_SECONDS * 1000)
  try {
    const [row] = await Promise.race([sql<[{ standby: boolean }]>`select pg_is_in_recovery() as standby`, late])
    if (row.standby) throw new Error('a standby')
    return { host, port }
  } finally {
    clearTimeout(timer)
    void sql.end({ timeout: 0 })
  }
}
