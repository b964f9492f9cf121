/**
 * Callers that run transactions one after another until standard input ends: a program of its own, because another
 * runtime runs it. Each transaction adds the same number to two tables. Prints how each ended.
 *
 * `many-transactions.ts <database URL> <callers>`
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { inTransaction, wasUndone } from '../../src/stores/transaction.ts'

export interface Report {
  done: number[]
  undone: number[]
  unknown: number[]
  /** Errors that reached nobody. */
  uncaught: string[]
  codes: string[]
  /** Transactions that have not ended. */
  unanswered: number
  /** The time from the last change until a transaction succeeded again, for each caller. */
  slowestMs: number
}

const [url = '', callers = '8'] = process.argv.slice(2)
const report: Report = { done: [], undone: [], unknown: [], uncaught: [], codes: [], unanswered: 0, slowestMs: 0 }
for (const name of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(name, (error: unknown) => {
    report.uncaught.push(error instanceof Error ? String(error.stack) : String(error))
  })

const sql = connectPostgres(url, { max: 6, name: 'many-transactions' })
const codes = new Set<string>()
let isStopped = false
let last = 0

async function add(caller: number, number: number): Promise<void> {
  await inTransaction(sql, async (tx) => {
    // Some statements one after another, some at once, and some of which nobody awaits the end.
    await tx`insert into halves (number) values (${number})`
    await sleep(caller % 3)
    const [[row]] = await Promise.all([
      tx<[{ n: number }]>`select ${number}::int as n`,
      tx`select pg_sleep(0.002)`,
      tx.unsafe('select 1'),
    ])
    if (row.n !== number) throw new Error(`read ${row.n}, not ${number}`)
    if (caller % 4 === 0) void tx`select 1`.execute()
    await tx`insert into other_halves (number) values (${number})`
  })
}

async function addOnAndOn(caller: number): Promise<void> {
  while (!isStopped) {
    const number = (last += 1)
    const asked = Date.now()
    report.unanswered += 1
    try {
      await add(caller, number)
      report.done.push(number)
    } catch (error) {
      report[wasUndone(error) ? 'undone' : 'unknown'].push(number)
      codes.add(error instanceof Error && 'code' in error ? String(error.code) : String(error))
      await sleep(5)
    }
    report.unanswered -= 1
    report.slowestMs = Math.max(report.slowestMs, Date.now() - asked)
  }
}

const adding = Promise.all(Array.from({ length: Number(callers) }, (_, caller) => addOnAndOn(caller)))
process.stdin.resume()
await once(process.stdin, 'end')
isStopped = true
await Promise.race([adding, sleep(10_000, undefined, { ref: false })])
console.log(JSON.stringify({ ...report, codes: [...codes] } satisfies Report))
await Promise.race([sql.end({ timeout: 1 }), sleep(3000)])
process.exit(0)
