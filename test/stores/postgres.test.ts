// @long
/** How the driver behaves when its connections break, and when queries fail on them. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { openCuttingProxy } from '../faults/cutting-proxy.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'

it('answers again at once after all connections were cut under load', async () => {
  const proxy = await openCuttingProxy(inject('stores').databaseUrl)
  const sql = connectPostgres(proxy.url, { max: 20 })
  let slowestMs = 0
  let stopped = false
  const askOnAndOn = async (): Promise<void> => {
    while (!stopped) {
      const asked = Date.now()
      const failed = await sql`select 1`.then(
        () => false,
        () => true,
      )
      slowestMs = Math.max(slowestMs, Date.now() - asked)
      if (failed) await sleep(5)
    }
  }
  const asking = Array.from({ length: 40 }, askOnAndOn)
  for (let round = 0; round < 8; round += 1) {
    await sleep(400)
    proxy.cutAll()
  }
  await sleep(1000)
  stopped = true
  await Promise.all(asking)
  expect(slowestMs).toBeLessThan(atLoad(2000))
  await sql.end({ timeout: 1 })
  await proxy.close()
})

it.each(['disable', 'require'])('fails when each connection is accepted and closed, sslmode=%s', async (mode) => {
  const proxy = await openCuttingProxy(inject('stores').databaseUrl)
  const url = new URL(proxy.url)
  url.searchParams.set('sslmode', mode)
  const sql = connectPostgres(url.href, { max: 1 })
  proxy.cut('refuse')
  const asked = sql`select 1`.then(String, (error: { code: string }) => error.code)
  expect(await Promise.race([asked, sleep(5000, 'never', { ref: false })])).toMatch(/^(CONNECTION_CLOSED|ECONNRESET)$/)
  await sql.end({ timeout: 1 })
  await proxy.close()
})

it('fails and is served again when an unused connection was closed by a proxy whose Postgres is away', async () => {
  const proxy = await openCuttingProxy(inject('stores').databaseUrl)
  const sql = connectPostgres(proxy.url, { max: 1 })
  const ask = () =>
    sql`select 1 as one`.then(
      (rows) => rows[0]?.['one'] as number,
      (error: { code: string }) => error.code,
    )
  expect(await ask()).toBe(1)
  proxy.cut('refuse')
  await sleep(50)
  const asked = performance.now()
  expect(await Promise.race([ask(), sleep(5000, 'never', { ref: false })])).toMatch(/^(CONNECTION_CLOSED|ECONNRESET)$/)
  expect(performance.now() - asked).toBeLessThan(atLoad(1000))
  proxy.mend()
  expect(await ask()).toBe(1)
  await sql.end({ timeout: 1 })
  await proxy.close()
})

describe('what is asked between the error of a connection and its end', () => {
  /**
   * Runs `askers` callers on `pools` pools at once. Each repeats a failed query immediately, while all connections are
   * reset again and again.
   */
  async function askThroughResets(pools: number, max: number, askers: number, ask: Ask): Promise<string[]> {
    const proxy = await openCuttingProxy(inject('stores').databaseUrl)
    const opened = Array.from({ length: pools }, () => connectPostgres(proxy.url, { max }))
    const faults = new Set<string>()
    let stopped = false
    const asking = opened.flatMap((sql, pool) =>
      Array.from({ length: askers }, async (_, own) => {
        for (let asked = 0; !stopped; asked += 1) {
          const number = (pool * askers + own) * 1_000_000 + asked
          const answer = await ask(sql, number).catch((error: { code?: string }) => {
            faults.add(error.code ?? 'no code')
            return number
          })
          if (answer !== number) faults.add(`answered ${answer}, not ${number}`)
        }
      }),
    )
    try {
      for (let round = 0; round < 12; round += 1) {
        await sleep(100 + round)
        proxy.resetAll()
        await sleep(350)
      }
      stopped = true
      const late = sleep(10_000, ['some are never settled'], { ref: false })
      return await Promise.race([Promise.all(asking).then(() => [...faults]), late])
    } finally {
      stopped = true
      await Promise.all(opened.map((sql) => sql.end({ timeout: 1 })))
      await proxy.close()
    }
  }

  type Ask = (sql: Sql, number: number) => Promise<number | undefined>
  const askOne: Ask = async (sql, number) => (await sql<[{ n: number }]>`select ${number}::int as n`)[0]?.n
  const askRarely: Ask = async (sql, number) => {
    await sleep(number % 20)
    return await askOne(sql, number)
  }

  it.each([
    ['by one connection each', 20, 1, 1, askOne],
    ['by more connections than are in use', 10, 4, 2, askOne],
    ['by fewer connections than are wanted', 5, 2, 8, askOne],
    ['now and then', 20, 2, 2, askRarely],
  ] as const)(
    'is settled: %s',
    async (_, pools, max, askers, ask) => {
      const faults = await askThroughResets(pools, max, askers, ask)
      expect(faults.filter((fault) => fault !== 'CONNECTION_CLOSED' && fault !== 'ECONNRESET')).toEqual([])
    },
    60_000,
  )
})

it('is served again by a pooler that gives every session the same secret', async () => {
  const proxy = await openCuttingProxy(inject('stores').databaseUrl, withoutSecret)
  const sql = connectPostgres(proxy.url, { max: 1 })
  for (let round = 0; round < 5; round += 1) {
    const asked = sql`select pg_sleep(10)`.then(String, String)
    await sleep(200)
    proxy.resetAll()
    expect(await asked).toMatch(/ECONNRESET|CONNECTION_CLOSED/)
    const next = sql`select 7 as seven`.then((rows) => [...rows], String)
    expect(await Promise.race([next, sleep(5000, 'never', { ref: false })])).toEqual([{ seven: 7 }])
  }
  await sql.end({ timeout: 1 })
  await proxy.close()
})

/** Postgres sends the number and the secret of a session in a message of 13 bytes, `K`. */
function withoutSecret(bytes: Buffer): Buffer {
  const at = bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]))
  return at < 0 ? bytes : Buffer.concat([bytes.subarray(0, at + 5), Buffer.alloc(8), bytes.subarray(at + 13)])
}

describe('the result of one query', () => {
  const { databaseUrl } = inject('stores')
  const killer = connectPostgres(databaseUrl, { max: 1 })
  afterAll(() => killer.end({ timeout: 1 }))

  /** Ends every session with this name, as an operator or a shutdown does. */
  const endSessions = async (name: string, state: 'active' | 'idle', count: number): Promise<void> => {
    const own = () => killer<{ pid: number }[]>`
      select pid from pg_stat_activity where application_name = ${name} and state = ${state}`
    await expect.poll(async () => (await own()).length, { timeout: PATIENCE_MS }).toBe(count)
    for (const { pid } of await own()) await killer`select pg_terminate_backend(${pid}, 5000)`
  }
  const faultOf = (query: Promise<unknown>): Promise<string> => query.then(String, String)
  const opened = async (name: string, max: number, act: (sql: Sql) => Promise<void>): Promise<void> => {
    const sql = connectPostgres(databaseUrl, { max, name })
    try {
      await act(sql)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  it('does not reach the next query after the connection broke during it and was opened again', () =>
    opened('broken-busy', 1, async (sql) => {
      for (let round = 0; round < 3; round += 1) {
        // Some thousand rows arrive, but the last ones never do.
        const busy = faultOf(sql`
          select n, pg_sleep(case when n = 5000 then 30 else 0 end) from generate_series(1, 5000) as n`)
        await endSessions('broken-busy', 'active', 1)
        expect(await busy).toContain('CONNECTION_CLOSED')
        expect([...(await sql`select 7 as seven`)]).toEqual([{ seven: 7 }])
      }
    }))

  it('reaches no other query after all connections broke, and no query runs twice', () =>
    opened('broken-all', 4, async (sql) => {
      await killer`drop sequence if exists times_asked`
      await killer`create sequence times_asked`
      const busy = Array.from({ length: 4 }, () => faultOf(sql`select nextval('times_asked'), pg_sleep(30)`))
      await endSessions('broken-all', 'active', 4)
      for (const fault of await Promise.all(busy)) expect(fault).toContain('CONNECTION_CLOSED')
      const asked = Array.from({ length: 20 }, () => sql<[{ n: number }]>`select nextval('times_asked') as n`)
      const numbers = (await Promise.all(asked)).map(([{ n }]) => n)
      expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at + 5))
      await killer`drop sequence times_asked`
    }))

  it('does not depend on a connection that broke before the query', () =>
    opened('broken-idle', 1, async (sql) => {
      await sql`select 1`
      await endSessions('broken-idle', 'idle', 1)
      await sleep(200)
      expect([...(await sql`select 7 as seven`)]).toEqual([{ seven: 7 }])
    }))

  it('leaves no rows to the next one when it failed half-way', () =>
    opened('failed-half-way', 1, async (sql) => {
      const failed = await faultOf(sql`select 1 / (4 - n) from generate_series(1, 9) as n`)
      expect(failed).toContain('division by zero')
      const next = await sql`select n from generate_series(1, 3) as n`
      expect([...next]).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
      expect(next.count).toBe(3)
    }))

  it('is the error of the query itself when the log-in is refused', async () => {
    const url = new URL(databaseUrl)
    url.password = 'wrong'
    const sql = connectPostgres(url.href, { max: 1 })
    await expect(sql`select 1`).rejects.toMatchObject({ code: '28P01' })
    await sql.end({ timeout: 1 })
  })
})
