/** Measures the queries and the cost of the segment worker while nothing is due, without clock rows and with many. */
import { readFile, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { untilQuiet } from '../measure.ts'
import { readCpu } from '../process-tree.ts'
import type { Stack } from '../stack.ts'

const DAY_MS = 86_400_000
const CHUNK_ROWS = 250_000
const SEGMENTS = 'sluice-segments'

export interface IdleCost {
  /** Statements of one kind of worker. */
  statementsPerSecond: number
  /** Percentage of a core, for all threads of the workers and for all of Postgres. */
  workers: number
  postgres: number
}

/** Uses contacts that do not exist, because they are read only when they are due. Removes the rows afterwards. */
export async function measureClocks(bench: Bench, rows: number): Promise<{ without: IdleCost; beside: IdleCost }> {
  const { stack } = bench
  const callers = await bench.openCallers({ kind: 'known', prefix: 'clock-', people: 1 })
  const businessId = callers.businessIds[0] ?? ''
  const without = await measureIdle(bench, SEGMENTS)
  await fillClocks(stack, businessId, rows)
  try {
    return { without, beside: await measureIdle(bench, SEGMENTS) }
  } finally {
    await stack.own.sql`delete from segment_clock where business_id = ${businessId}`
    await stack.own.sql`vacuum (analyze) segment_clock`
  }
}

async function fillClocks({ own: { sql } }: Stack, businessId: string, rows: number): Promise<void> {
  const from = Date.now() + DAY_MS
  for (let at = 0; at < rows; at += CHUNK_ROWS)
    await sql`
      insert into segment_clock (business_id, contact_id, due_at, settled_at)
      select ${businessId}, uuidv7(), ${from}::bigint + (n * 7919) % ${30 * DAY_MS}::bigint, ${from - DAY_MS}::bigint
      from generate_series(${at}::bigint, ${Math.min(rows, at + CHUNK_ROWS) - 1}::bigint) as n`
  await sql`vacuum (analyze) segment_clock`
  await sql`checkpoint`
}

/** `name`: application name of the worker's connections in Postgres. */
export async function measureIdle({ stack, length }: Bench, name: string): Promise<IdleCost> {
  await untilQuiet(stack)
  await sleep(length(500, 5000))
  const log = await openStatementLog(stack, name)
  try {
    await sleep(500)
    const skipped = await log.count()
    const before = readCpu(stack.pids)
    const started = performance.now()
    await sleep(length(3000, 20_000))
    const after = readCpu(stack.pids)
    const seconds = (performance.now() - started) / 1000
    return {
      statementsPerSecond: ((await log.count()) - skipped) / seconds,
      workers: (after.workers - before.workers) / seconds / 10_000,
      postgres: (after.postgres - before.postgres) / seconds / 10_000,
    }
  } finally {
    await log.close()
  }
}

/** Makes Postgres log every statement with the application name. Its log is its standard error. */
async function openStatementLog({ pids, own: { sql } }: Stack, name: string) {
  const file = `/proc/${pids.postgres}/fd/2`
  const start = (await stat(file)).size
  await sql`alter system set log_line_prefix = '%a|'`
  await sql`alter system set log_statement = 'all'`
  await sql`select pg_reload_conf()`
  return {
    async count(): Promise<number> {
      const lines = (await readFile(file)).subarray(start).toString().split('\n')
      return lines.filter((line) => line.startsWith(`${name}|`)).length
    },
    async close(): Promise<void> {
      await sql`alter system reset log_statement`
      await sql`alter system reset log_line_prefix`
      await sql`select pg_reload_conf()`
    },
  }
}
