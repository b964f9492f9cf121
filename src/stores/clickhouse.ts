import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'

export type { ClickHouseClient }

/** The URL holds user, password and database: `http://user:password@host:8123/database`. */
export function connectClickHouse(url: string): ClickHouseClient {
  return createClient({
    url,
    application: 'sluice',
    request_timeout: 60_000,
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
}
