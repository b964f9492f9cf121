// @long
/**
 * Postgres stops, crashes, freezes and loses connections while each runtime runs transactions. Each of them ends, is
 * made as a whole or not at all, and as it was answered; nothing reaches the process as an uncaught error.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { type CuttingProxy, openCuttingProxy } from '../faults/cutting-proxy.ts'
import type { Report } from '../stores/many-transactions.ts'
import { type OwnPostgres, openOwnPostgres } from '../stores/own-postgres.ts'
import { atLoad } from '../support/at-load.ts'
import { RUNTIMES } from '../support/runtimes.ts'

const PROGRAM = fileURLToPath(new URL('../stores/many-transactions.ts', import.meta.url))
const CALLERS = '4'
const CALM_MS = 1500
let postgres: OwnPostgres
let proxy: CuttingProxy
const children: ChildProcess[] = []

beforeAll(async () => {
  postgres = await openOwnPostgres()
  proxy = await openCuttingProxy(postgres.url)
  const sql = connectPostgres(postgres.url, { max: 1 })
  for (const table of ['halves', 'other_halves'])
    await sql`create table ${sql(table)} (run text, number int, primary key (run, number))`
  await sql.end()
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await proxy.close()
  await postgres.close()
})

async function breakPostgres(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL', 'SIGINT'] as const) {
    await sleep(CALM_MS)
    await postgres.stop(signal)
    await postgres.start()
  }
  await sleep(CALM_MS)
  await postgres.pause()
  await sleep(CALM_MS)
  await postgres.resume()
  for (let round = 0; round < 3; round += 1) {
    await sleep(400)
    proxy.cutAll()
    await sleep(400)
    proxy.resetAll()
    // The changes are made, and their callers do not learn it.
    await proxy.cutNext('commit', 'reply')
    await proxy.cutNext('commit', 'command')
  }
  await sleep(CALM_MS)
}

it.each(Object.keys(RUNTIMES))(
  'on %s',
  async (runtime) => {
    const [command = '', ...args] = RUNTIMES[runtime] ?? []
    const child = spawn(command, [...args, PROGRAM, runtime, CALLERS, postgres.url, proxy.url], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    children.push(child)
    const [printed] = await Promise.all([
      text(child.stdout),
      breakPostgres().finally(() => child.stdin.end()),
      once(child, 'exit'),
    ])
    const report = JSON.parse(printed) as Report
    expect(report).toMatchObject({ uncaught: [], unanswered: 0 })
    expect(report.codes.filter((code) => !/^(?:CONNECT|ECONN|EPIPE|57P0)/.test(code))).toEqual([])
    expect(report.done.length).toBeGreaterThan(100)
    expect(report.undone.length).toBeGreaterThan(10)
    expect(report.unknown.length).toBeGreaterThan(0)
    expect(report.slowestMs).toBeLessThan(atLoad(8000))

    const sql = connectPostgres(postgres.url, { max: 1 })
    const numbersOf = async (table: string): Promise<Set<number>> => {
      const rows = await sql<{ number: number }[]>`select number from ${sql(table)} where run = ${runtime}`
      return new Set(rows.map(({ number }) => number))
    }
    const [made, madeToo] = [await numbersOf('halves'), await numbersOf('other_halves')]
    await sql.end()
    expect(made).toEqual(madeToo)
    expect(report.done.filter((number) => !made.has(number))).toEqual([])
    expect(report.undone.filter((number) => made.has(number))).toEqual([])
    // Of those whose answer was lost, some are made and some are not.
    expect(report.unknown.some((number) => made.has(number))).toBe(true)
  },
  120_000,
)
