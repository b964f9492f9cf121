import { type ClickHouseClient as Client, ClickHouseLogLevel, createClient } from '@clickhouse/client'

/** A client of the internal database, which holds the tables. The public database holds the views for analysts. */
export type ClickHouseClient = Client & { readonly databases: Databases; makeInternal(): Promise<void> }

export interface Databases {
  public: string
  internal: string
}

interface ConnectOptions {
  requestTimeoutMs?: number
  /** Whether to connect to the database in the URL, for use before the internal one exists. */
  toPublic?: boolean
}

/** `url`: `http://user:password@host:8123/database`, with the public database. */
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
    // Set explicitly, because defaults change between versions: an insert is one synchronous block, and one token is
    // one insert.
    clickhouse_settings: {
      async_insert: 0,
      insert_deduplicate: 1,
      deduplicate_blocks_in_dependent_materialized_views: 1,
      date_time_input_format: 'basic',
      output_format_json_quote_64bit_integers: 1,
      // Makes ClickHouse stop an abandoned read. Applies only to `readonly` queries, so reads with a signal are made
      // `readonly`.
      cancel_http_readonly_queries_on_client_close: 1,
    },
  })
  pings.set(client, shared(pingOf(url)))
  const query = client.query.bind(client)
  const stoppable: Client['query'] = async (params) =>
    query(
      params.abort_signal
        ? { ...params, clickhouse_settings: { ...params.clickhouse_settings, readonly: '2' } }
        : params,
    )
  return Object.assign(client, { query: stoppable, databases, makeInternal: async () => makeInternal(url, databases) })
}

/** Ping of each client, over a separate connection: slow queries may occupy all others. */
const pings = new WeakMap<Client, () => Promise<boolean>>()

/** Returns whether ClickHouse answers a ping. Concurrent calls share one ping. */
export async function isAlive(client: ClickHouseClient): Promise<boolean> {
  return (await pings.get(client)?.()) ?? false
}

const PING_TIMEOUT_MS = 2000

function pingOf(url: string): () => Promise<boolean> {
  const client = createClient({
    url,
    application: 'sluice',
    request_timeout: PING_TIMEOUT_MS,
    // Otherwise an open connection would remain that must be closed.
    keep_alive: { enabled: false },
    log: { level: ClickHouseLogLevel.OFF },
  })
  return async () => (await client.ping()).success
}

/** Concurrent calls share one call of `work`. */
function shared<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined
  return () =>
    (running ??= work().finally(() => {
      running = undefined
    }))
}

/**
 * Creates the internal database unless it exists. A user without the right to create databases can use an existing one.
 */
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

/** Quotes a name as an identifier. */
export const quoteName = (name: string): string => `\`${name.replaceAll(/[\\`]/g, String.raw`\$&`)}\``
