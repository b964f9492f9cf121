import type { Config } from '../config.ts'
import { resolveStores } from '../stores/data-dir.ts'
import { type ClickHouseClient, connectClickHouse } from '../stores/clickhouse.ts'

/** Calls `use` with a client, then closes it. Needs only the address of ClickHouse. */
export async function withClickHouse<Result>(
  config: Config,
  use: (clickhouse: ClickHouseClient) => Promise<Result>,
): Promise<Result> {
  const clickhouse = connectClickHouse(config.clickhouseUrl ?? (await resolveStores(config)).clickhouseUrl)
  try {
    return await use(clickhouse)
  } finally {
    await clickhouse.close()
  }
}
