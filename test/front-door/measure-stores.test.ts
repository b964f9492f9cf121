/** The stores on the page for operators: a store that is down is reported as such, and does not delay the others. */
import { expect, it } from 'vitest'
import { createStoreMeter } from '../../src/front-door/health/measure-stores.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

it('measures what each needs to answer, and how much it holds', async () => {
  const measured = await createStoreMeter(stack)()
  expect(measured.map(({ store }) => store)).toEqual(['redis', 'postgres', 'clickhouse'])
  for (const { latencyMs, bytes } of measured) {
    expect(latencyMs).toBeGreaterThan(0)
    expect(bytes).toBeGreaterThan(0)
  }
})

it('shows neither a time nor a size for one that does not answer, and measures the others', async () => {
  const nobody = 'http://127.0.0.1:9'
  const away = {
    sql: connectPostgres('postgres://x:y@127.0.0.1:9/none', { max: 1 }),
    redis: connectRedis('redis://127.0.0.1:9', 'command'),
    clickhouse: connectClickHouse(nobody),
  }
  try {
    for (const [name, store] of [
      ['sql', 'postgres'],
      ['redis', 'redis'],
      ['clickhouse', 'clickhouse'],
    ] as const) {
      const measured = await createStoreMeter({ ...stack, [name]: away[name] })()
      for (const one of measured) {
        if (one.store === store) expect(one).toEqual({ store, latencyMs: null, bytes: null })
        else expect(one.latencyMs).not.toBeNull()
      }
    }
  } finally {
    away.redis.disconnect()
    await Promise.all([away.sql.end({ timeout: 1 }), away.clickhouse.close()])
  }
}, 60_000)
