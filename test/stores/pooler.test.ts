// @long
/** A pooler that does not pass on the settings of connections is refused at the start; a thread that loses them is named. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { runWorkers } from '../../workers/main.ts'
import { runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { NO_CONNECTION, queryStore } from '../../src/front-door/access/query-store.ts'
import { PROBED_SETTINGS, connectPostgres } from '../../src/stores/postgres.ts'
import { requireStores } from '../../src/stores/require-stores.ts'
import { openStack, type Stack } from '../support/stack.ts'
import { type Pooler, startPooler } from '../support/pooler.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let stack: Stack
let pooler: Pooler
beforeEach(async () => {
  stack = await openStack({ WORKERS_PORT: '0' })
  pooler = await startPooler(stack.databaseUrl, () => 'pass')
})
afterEach(async () => {
  await pooler.close()
  await stack.close()
})

const MESSAGE = (which: string) =>
  new RegExp(
    `^Postgres \\(DATABASE_URL, 127\\.0\\.0\\.1:\\d+\\) does not take settings of connections \\(.*${which}.*\\): a pooler stands in front of it, such as pgbouncer\\. Give the address of Postgres itself: docs/deploy\\.md\\.$`,
  )

/** The Postgres of the tests has `jit` off itself, so nothing is lost without the parameter. */
const TREATED = Object.keys(PROBED_SETTINGS)
  .flatMap((name) => [[name, 'refuse'] as const, [name, 'ignore'] as const])
  .filter((one) => one.join(' ') !== 'jit ignore')

it.each(TREATED)('one that treats %s so: %s', async (name, treatment) => {
  pooler.treat((one) => (one === name ? treatment : 'pass'))
  const config = { ...stack.config, databaseUrl: pooler.url }
  await expect(requireStores(config, { databaseUrl: pooler.url })).rejects.toThrow(MESSAGE(name))
})

it('is refused by serve and by workers', async () => {
  for (const treatment of ['refuse', 'ignore'] as const) {
    pooler.treat(() => treatment)
    const config = { ...stack.config, databaseUrl: pooler.url }
    await expect(runFrontDoor(config)).rejects.toThrow(MESSAGE('statement_timeout'))
    await expect(runWorkers(config)).rejects.toThrow(MESSAGE('statement_timeout'))
  }
}, 60_000)

it('passes when all settings arrive', async () => {
  await requireStores({ ...stack.config, databaseUrl: pooler.url }, { databaseUrl: pooler.url })
})

it('a thread that cannot connect for 10 s makes the workers unready, by its name', async () => {
  const workers = await runWorkers({ ...stack.config, databaseUrl: pooler.url })
  try {
    const read = async () => {
      const answer = await fetch(`http://127.0.0.1:${workers.port}/readyz`)
      return [answer.status, await answer.text()] as const
    }
    await vi.waitFor(async () => expect((await read())[0]).toBe(200), { timeout: PATIENCE_MS, interval: 500 })
    // Only campaigns use this one.
    pooler.treat((one) => (one === 'enable_hashjoin' ? 'refuse' : 'pass'))
    await vi.waitFor(
      async () =>
        expect(await read()).toEqual([
          503,
          expect.stringMatching(/^\S+-campaigns-\d: postgres: no connection for sluice-campaigns$/m),
        ]),
      { timeout: PATIENCE_MS, interval: 500 },
    )
    pooler.treat(() => 'pass')
    await vi.waitFor(async () => expect((await read())[0]).toBe(200), { timeout: PATIENCE_MS, interval: 500 })
  } finally {
    await workers.close()
  }
}, 240_000)

it('a Postgres without a free connection is not reported as one that is not reachable', async () => {
  const { pathname } = new URL(stack.databaseUrl)
  const database = stack.sql(pathname.slice(1))
  await stack.sql`alter database ${database} connection limit 1`
  const sql = connectPostgres(stack.databaseUrl, { max: 1 })
  try {
    await expect(queryStore(() => sql`select 1`)).rejects.toThrow(new RegExp(`^${NO_CONNECTION}$`))
  } finally {
    await sql.end({ timeout: 1 })
    await stack.sql`alter database ${database} connection limit -1`
  }
})
