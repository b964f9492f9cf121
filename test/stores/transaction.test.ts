/** What a transaction answers and leaves behind when its work, its statements, its COMMIT or its connection fails. */
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { afterCommit, inTransaction, wasUndone } from '../../src/stores/transaction.ts'
import { openCuttingProxy } from '../faults/cutting-proxy.ts'
import { type Stack, openStack } from '../support/stack.ts'

let stack: Stack
let sql: Sql
beforeAll(async () => {
  stack = await openStack()
  sql = connectPostgres(stack.databaseUrl, { max: 1, name: 'transactions' })
  await sql`create table things (n int primary key, like_n int references things deferrable initially deferred)`
})
afterAll(async () => {
  await sql.end({ timeout: 1 })
  await stack.close()
})
beforeEach(() => stack.sql`delete from things`)

const held = async (): Promise<number[]> =>
  (await stack.sql<{ n: number }[]>`select n from things order by n`).map(({ n }) => n)
const errorOf = (made: Promise<unknown>): Promise<Error> =>
  made.then(
    () => new Error('it did not fail'),
    (error: unknown) => error as Error,
  )

/** Ends the session, and waits until the driver has seen it. */
async function endSession(): Promise<void> {
  await stack.sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'transactions'`
  await sleep(50)
}

it('resolves with what the work returns, and has committed', async () => {
  const n = await inTransaction(sql, async (tx) => {
    await tx`insert into things (n) values (1)`
    expect(await held()).toEqual([])
    const [row] = await tx.unsafe<[{ n: number }]>('select n from things')
    return row.n
  })
  expect([n, await held()]).toEqual([1, [1]])
})

it('rejects with the error of the work, and has rolled back', async () => {
  const fault = new Error('the work failed')
  const error = await errorOf(
    inTransaction(sql, async (tx) => {
      await tx`insert into things (n) values (1)`
      throw fault
    }),
  )
  expect([error, wasUndone(error), await held()]).toEqual([fault, true, []])
})

it('rejects with the first error of a statement, also if the work went on', async () => {
  const goesOn = (then: 'returns' | 'asks') =>
    inTransaction(sql, async (tx) => {
      await tx`insert into things (n) values (1)`
      await tx`select 1 / 0`.catch(() => undefined)
      if (then === 'asks') await tx`insert into things (n) values (2)`
    })
  for (const then of ['returns', 'asks'] as const) {
    const error = await errorOf(goesOn(then))
    expect(error.message).toBe('division by zero')
    expect(wasUndone(error)).toBe(true)
  }
  expect(await held()).toEqual([])
})

it('waits for statements for which the work does not wait, and fails with them', async () => {
  await inTransaction(sql, async (tx) => {
    void tx`insert into things (n) values (1)`.execute()
    void tx`insert into things (n) values (2)`.execute()
    await Promise.resolve()
  })
  expect(await held()).toEqual([1, 2])
  const error = await errorOf(
    inTransaction(sql, async (tx) => {
      await tx`insert into things (n) values (3)`
      void tx`select pg_sleep(0.05), 1 / 0`.execute()
    }),
  )
  expect([error.message, wasUndone(error), await held()]).toEqual(['division by zero', true, [1, 2]])
})

it('runs statements at once in the order in which they were made', async () => {
  const numbers = Array.from({ length: 300 }, (_, n) => n)
  const read = await inTransaction(sql, (tx) =>
    Promise.all(
      numbers.map(
        (n) => tx<[{ n: number; before: number }]>`
      with made as (insert into things (n) values (${n})) select ${n}::int as n, count(*)::int as before from things`,
      ),
    ),
  )
  expect(read.map(([row]) => ({ ...row }))).toEqual(numbers.map((n) => ({ n, before: n })))
})

it('runs no statement after its end', async () => {
  let late: Promise<unknown> | undefined
  await inTransaction(sql, async (tx) => {
    await tx`insert into things (n) values (1)`
    late = sleep(30).then(() => tx`insert into things (n) values (2)`)
  })
  expect(await errorOf(late as Promise<unknown>)).toMatchObject({ code: 'CONNECTION_CLOSED' })
  // Nor within the transaction of another caller on the same connection.
  await inTransaction(sql, async (tx) => {
    const earlier = inTransaction(stack.sql, (other) => Promise.resolve(other))
    expect(await errorOf((await earlier)`insert into things (n) values (3)`)).toMatchObject({
      code: 'CONNECTION_CLOSED',
    })
    await tx`insert into things (n) values (4)`
  })
  expect(await held()).toEqual([1, 4])
})

it('is undone when Postgres refuses the COMMIT', async () => {
  const error = await errorOf(inTransaction(sql, (tx) => tx`insert into things (n, like_n) values (1, 2)`))
  expect([error.message.includes('foreign key'), wasUndone(error), await held()]).toEqual([true, true, []])
  expect([...(await sql`select 7 as seven`)]).toEqual([{ seven: 7 }])
})

describe('when its connection ends', () => {
  it.each([
    ['during a statement', (tx: Sql) => Promise.all([tx`select pg_sleep(30)`, sleep(100).then(endSession)])],
    ['between statements', (tx: Sql) => endSession().then(() => tx`insert into things (n) values (2)`)],
    [
      'while statements wait',
      (tx: Sql) =>
        Promise.all([sleep(100).then(endSession), ...[1, 2, 3].map((n) => tx`select pg_sleep(30), ${n}::int`)]),
    ],
    ['before the COMMIT', endSession],
  ])('%s, it is undone, and the rest of it runs nowhere', async (_, end) => {
    const seen: string[] = []
    const error = await errorOf(
      inTransaction(sql, async (tx) => {
        await tx`insert into things (n) values (1)`
        await end(tx as unknown as Sql).catch((error: Error) => seen.push(error.message))
        // The connection is open again, for others.
        await sleep(500)
        await tx`insert into things (n) values (3)`.catch((error: Error) => seen.push(error.message))
      }),
    )
    expect(error).toMatchObject({ code: 'CONNECTION_CLOSED' })
    // It rejects at once, whatever `work` waits for.
    await expect.poll(() => seen.length).toBeGreaterThan(0)
    expect([wasUndone(error), await held()]).toEqual([true, []])
    expect([...(await sql`select 7 as seven`)]).toEqual([{ seven: 7 }])
  })

  it('is not undone if only the answer to the COMMIT was lost', async () => {
    const proxy = await openCuttingProxy(stack.databaseUrl)
    const cut = connectPostgres(proxy.url, { max: 1 })
    try {
      for (const [n, before] of [
        [1, 'reply'],
        [2, 'command'],
      ] as const) {
        const cutting = proxy.cutNext('commit', before)
        const error = await errorOf(inTransaction(cut, (tx) => tx`insert into things (n) values (${n})`))
        await cutting
        expect(error.message).toMatch(/CONNECTION_CLOSED|ECONNRESET/)
        expect(wasUndone(error)).toBe(false)
      }
      await expect.poll(held).toEqual([1])
    } finally {
      await cut.end({ timeout: 1 })
      await proxy.close()
    }
  })
})

describe('leaves no transaction open on a connection', () => {
  /** Returns the numbers that single statements wrote on all connections while transactions ran, and afterwards. */
  async function writeAround(pool: Sql, transactions: Promise<unknown>[]): Promise<void> {
    const results = await Promise.allSettled(transactions)
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
    await Promise.all([101, 102, 103, 104].map((n) => pool`insert into things (n) values (${n})`))
    const open = await stack.sql`
      select pid from pg_stat_activity where application_name = 'stalled' and state like 'idle in transaction%'`
    expect([...open]).toEqual([])
    expect(await held()).toEqual([...transactions.keys(), 101, 102, 103, 104])
  }

  it.each([
    [1, 99],
    [1, 101],
    [2, 99],
    [2, 100],
    [2, 101],
    [2, 250],
  ])('in a pool of %i, when %i statements wait on each connection', async (max, count) => {
    const pool = connectPostgres(stack.databaseUrl, { max, name: 'stalled' })
    try {
      await Promise.all(Array.from({ length: max }, () => pool`select pg_sleep(0.1)`))
      const waiting = Array.from({ length: max }, () => pool`select pg_sleep(0.5)`.execute() as Promise<unknown>)
      for (let n = 0; n < count * max; n += 1) waiting.push(pool`select 1 as one`.execute())
      const transactions = Array.from({ length: 8 }, (_, n) =>
        inTransaction(pool, (tx) => tx`insert into things (n) values (${n})`),
      )
      await writeAround(pool, transactions)
      await Promise.all(waiting)
    } finally {
      await pool.end({ timeout: 1 })
    }
  })

  it('when the socket is full as it begins', async () => {
    const pool = connectPostgres(stack.databaseUrl, { max: 2, name: 'stalled' })
    const write = Socket.prototype.write
    const refused: string[] = []
    const spy = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...args: unknown[]) {
      const hasRoom = Reflect.apply(write, this, args) as boolean
      const text = Buffer.isBuffer(args[0]) ? args[0].toString('latin1') : ''
      if (refused.length > 0 || !text.includes('long')) return hasRoom
      refused.push(text)
      return false
    })
    try {
      await Promise.all([pool`select pg_sleep(0.1)`, pool`select pg_sleep(0.1)`])
      // The driver collects 1 KiB before it writes: the end of this statement and the beginning of the transaction.
      const long = [1, 2].map(() => pool.unsafe(`select 1 as long /* ${'.'.repeat(991)} */`).execute())
      const transactions = [0, 1, 2, 3].map((n) =>
        inTransaction(pool, (tx) => tx`insert into things (n) values (${n})`),
      )
      await writeAround(pool, transactions)
      await Promise.all(long)
      expect(refused).toHaveLength(1)
    } finally {
      spy.mockRestore()
      await pool.end({ timeout: 1 })
    }
  })
})

it('is undone when it cannot begin', async () => {
  const url = new URL(inject('stores').databaseUrl)
  url.port = '1'
  const nowhere = connectPostgres(url.href, { max: 1 })
  let hasRun = false
  const error = await errorOf(
    inTransaction(nowhere, async () => {
      hasRun = true
      await Promise.resolve()
    }),
  )
  expect([hasRun, wasUndone(error)]).toEqual([false, true])
  await nowhere.end({ timeout: 1 })
})

it('counts as doubtful when it follows a change that is committed', async () => {
  const error = await errorOf(afterCommit(() => inTransaction(sql, (tx) => tx`select 1 / 0`)))
  expect([error.message, wasUndone(error)]).toEqual(['division by zero', false])
})
