/**
 * Callers that run transactions one after another until standard input ends: a program of its own, so that every
 * runtime can run it. Each transaction adds one number to two tables. Prints how each of them ended.
 *
 * `many-transactions.ts <name of this run> <callers of each> <database URL>…`
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { inTransaction, wasUndone } from '../../src/stores/transaction.ts'

export interface Report {
  done: number[]
  undone: number[]
  unknown: number[]
  /** Errors that reached no caller. */
  uncaught: string[]
  /** Codes of all errors, each once. */
  codes: string[]
  /** Transactions that have not ended. */
  unanswered: number
  slowestMs: number
}

const [run = '', callers = '1', ...urls] = process.argv.slice(2)
const report: Report = { done: [], undone: [], unknown: [], uncaught: [], codes: [], unanswered: 0, slowestMs: 0 }
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(
    event,
    (error: unknown) => void report.uncaught.push(error instanceof Error ? `${error.stack}` : String(error)),
  )

const pools = urls.map((url) => connectPostgres(url, { max: 4 }))
let isStopped = false
let last = 0

/** Some statements follow each other, some run at once, and one is not waited for. */
async function add(sql: Sql, caller: number, number: number): Promise<void> {
  await inTransaction(sql, async (tx) => {
    await tx`insert into halves (run, number) values (${run}, ${number})`
    await sleep(caller % 3)
    const [[row]] = await Promise.all([
      tx<[{ n: number }]>`select ${number}::int as n`,
      tx`select pg_sleep(0.002)`,
      tx.unsafe('select 1'),
    ])
    if (row.n !== number) throw new Error(`read ${row.n}, not ${number}`)
    if (caller % 2 === 0) void tx`select 1`.execute()
    await tx`insert into other_halves (run, number) values (${run}, ${number})`
  })
}

async function addOnAndOn(sql: Sql, caller: number): Promise<void> {
  while (!isStopped) {
    const number = (last += 1)
    const asked = Date.now()
    report.unanswered += 1
    try {
      await add(sql, caller, number)
      report.done.push(number)
    } catch (error) {
      report[wasUndone(error) ? 'undone' : 'unknown'].push(number)
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
      if (!report.codes.includes(code)) report.codes.push(code)
      await sleep(5)
    }
    report.unanswered -= 1
    report.slowestMs = Math.max(report.slowestMs, Date.now() - asked)
  }
}

const adding = pools.flatMap((sql) => Array.from({ length: Number(callers) }, (_, caller) => addOnAndOn(sql, caller)))
process.stdin.resume()
await once(process.stdin, 'end')
isStopped = true
await Promise.race([Promise.all(adding), sleep(10_000)])
process.stdout.write(JSON.stringify(report), () => process.exit(0))
