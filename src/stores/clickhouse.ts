import { type ClickHouseClient as Client, ClickHouseLogLevel, createClient } from '@clickhouse/client'

/** Connected to the internal database, which has the tables. The public database has the views for analysts. */
export type ClickHouseClient = Client & { readonly databases: Databases; makeInternal(): Promise<void> }

export interface Databases {
  public: string
  internal: string
}

interface ConnectOptions {
  requestTimeoutMs?: number
  /** Connects to the database that the URL names, even if the internal one does not exist yet. */
  toPublic?: boolean
}

/** `url`: user, password and public database, as `http://user:password@host:8123/database`. */
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
    // Explicit, because defaults change between versions: an insert is one synchronous block, and one token is one insert.
    clickhouse_settings: {
      async_insert: 0,
      insert_deduplicate: 1,
      deduplicate_blocks_in_dependent_materialized_views: 1,
      date_time_input_format: 'basic',
      output_format_json_quote_64bit_integers: 1,
      // A read that was given up does not go on in ClickHouse. It stops only what is `readonly`, as reads with a signal are.
      cancel_http_readonly_queries_on_client_close: 1,
    },
  })
  pings.set(client, shared(pingOf(url)))
  const query = client.query.bind(client)
  const stoppable: Client['query'] = async (asked) =>
    query(
      asked.abort_signal ? { ...asked, clickhouse_settings: { ...asked.clickhouse_settings, readonly: '2' } } : asked,
    )
  return Object.assign(client, { query: stoppable, databases, makeInternal: async () => makeInternal(url, databases) })
}

/** A separate connection for pings, by client: slow queries may occupy all others. */
const pings = new WeakMap<Client, () => Promise<boolean>>()

/** Whether ClickHouse answers a ping. Concurrent calls share one ping. */
export async function isAlive(client: ClickHouseClient): Promise<boolean> {
  return (await pings.get(client)?.()) ?? false
}

const PING_TIMEOUT_MS = 2000

function pingOf(url: string): () => Promise<boolean> {
  const client = createClient({
    url,
    application: 'sluice',
    request_timeout: PING_TIMEOUT_MS,
    // Leaves no connection open that would have to be closed.
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

/** Creates the internal database if it does not exist. A user without that right can use an existing one. */
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
