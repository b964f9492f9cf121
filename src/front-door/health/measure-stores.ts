/** Measures whether each store answers, how fast, and how much it holds, for the page of operators. */
import { createTtlCache } from '../../async/ttl-cache.ts'
import { queryStore } from '../access/query-store.ts'
import type { AppContext } from '../app-context.ts'
import { STORES } from '../../rules/lateness.ts'
import type { MeasuredStore } from './measured-store.ts'

/** Computing the size of a large database takes a while, and the size changes slowly. */
const SIZES = { ms: 30_000, max: 3 }

type Deps = Pick<AppContext, 'sql' | 'redis' | 'clickhouse'>

export function createStoreMeter({ sql, redis, clickhouse }: Deps): () => Promise<MeasuredStore[]> {
  const sizes = createTtlCache<number>(SIZES)
  const { internal, public: shown } = clickhouse.databases
  const probes: Record<MeasuredStore['store'], { ping(): Promise<unknown>; size(): Promise<number> }> = {
    redis: {
      ping: () => redis.ping(),
      size: async () => Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]),
    },
    postgres: {
      ping: () => sql`select 1`,
      async size() {
        const [row] = await sql<[{ bytes: number }]>`select pg_database_size(current_database())::float8 as bytes`
        return row.bytes
      },
    },
    clickhouse: {
      async ping() {
        const { success } = await clickhouse.ping({ select: true })
        if (!success) throw new Error('no answer')
      },
      async size() {
        const query = `select toFloat64(sum(bytes_on_disk)) as bytes from system.parts
          where active and database in ('${internal}', '${shown}')`
        const [row] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ bytes: number }>()
        return Number(row?.bytes)
      },
    },
  }
  return () =>
    Promise.all(
      STORES.map(async (store) => {
        const { ping, size } = probes[store]
        const began = performance.now()
        const isReachable = await queryStore(ping).then(
          () => true,
          () => false,
        )
        const latencyMs = isReachable ? performance.now() - began : null
        const bytes = isReachable ? await queryStore(() => sizes(store, size)).catch(() => null) : null
        return { store, latencyMs, bytes: bytes === null || Number.isNaN(bytes) ? null : bytes }
      }),
    )
}
