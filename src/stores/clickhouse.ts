import { type ClickHouseClient as Client, ClickHouseLogLevel, createClient } from '@clickhouse/client'

/** Speaks to the internal database, where the tables are, and knows the public one, which holds the analysts' views. */
export type ClickHouseClient = Client & { readonly databases: Databases; makeInternal(): Promise<void> }

export interface Databases {
  public: string
  internal: string
}

interface ConnectOptions {
  requestTimeoutMs?: number
  /** Speaks to the database that the URL names, whether or not the internal one is there. */
  toPublic?: boolean
}

/** The URL holds user, password and the public database: `http://user:password@host:8123/database`. */
export function connectClickHouse(
  url: string,
  { requestTimeoutMs = 60_000, toPublic = false }: ConnectOptions = {},
): ClickHouseClient {
  const server = new URL(url)
  const name = decodeURIComponent(server.pathname.slice(1)) || 'default'
  const databases = { public: name, internal: `${name}_internal` }
  server.pathname = ''
  const client = createClient({
    url: server,
    database: toPublic ? databases.public : databases.internal,
    application: 'sluice',
    request_timeout: requestTimeoutMs,
    log: { level: ClickHouseLogLevel.OFF },
    // Said explicitly, since defaults change between versions: an insert is one synchronous block, and one token is one insert.
    clickhouse_settings: {
      async_insert: 0,
      insert_deduplicate: 1,
      deduplicate_blocks_in_dependent_materialized_views: 1,
      date_time_input_format: 'basic',
      output_format_json_quote_64bit_integers: 1,
    },
  })
  pings.set(client, once(pingOf(url)))
  return Object.assign(client, { databases, makeInternal: async () => makeInternal(url, databases) })
}

/** By client, since connections for queries may all be in use by slow ones. */
const pings = new WeakMap<Client, () => Promise<boolean>>()

/** Whether ClickHouse answers at all, by a connection of its own. Whoever asks meanwhile shares the answer. */
export async function isAlive(client: ClickHouseClient): Promise<boolean> {
  return (await pings.get(client)?.()) ?? false
}

const PING_TIMEOUT_MS = 2000

function pingOf(url: string): () => Promise<boolean> {
  const client = createClient({
    url,
    application: 'sluice',
    request_timeout: PING_TIMEOUT_MS,
    // Nothing stays open that would have to be closed.
    keep_alive: { enabled: false },
    log: { level: ClickHouseLogLevel.OFF },
  })
  return async () => (await client.ping()).success
}

function once<Result>(ask: () => Promise<Result>): () => Promise<Result> {
  let asked: Promise<Result> | undefined
  return () =>
    (asked ??= ask().finally(() => {
      asked = undefined
    }))
}

/** Makes the internal database, unless it is there: a user who may make none can be given it. */
async function makeInternal(url: string, { internal }: Databases): Promise<void> {
  const client = connectClickHouse(url, { toPublic: true })
  try {
    const found = await client.query({
      query: 'select name from system.databases where name = {internal: String}',
      query_params: { internal },
      format: 'JSONEachRow',
    })
    if ((await found.json()).length === 0)
      await client.command({ query: `create database if not exists ${quoteName(internal)}` })
  } finally {
    await client.close()
  }
}

/** A name as an identifier in a statement. */
export const quoteName = (name: string): string => `\`${name.replaceAll(/[\\`]/g, String.raw`\$&`)}\``
