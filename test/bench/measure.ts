/**
 * Measures one load between two states of rest: the product is idle before the load, and everything caused by it,
 * including the writes to ClickHouse, is done at the second reading. So each figure covers exactly these events,
 * however late the work was done.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadPlan, LoadResult } from './generator/plan.ts'
import { eventsIn } from './generator/traffic.ts'
import { readCpu } from './process-tree.ts'
import { type Observed, observe } from './observe.ts'
import { type Groups, readGroups, untilReported } from './read-groups.ts'
import { PARTS, type Part, type Stack } from './stack.ts'
import { startTask } from './task.ts'
import { countWaiting } from '../support/count-waiting.ts'

export interface Measured {
  /** The first of the concurrent loads. */
  load: LoadResult
  loads: LoadResult[]
  /** Number of events that were acknowledged to the callers. */
  events: number
  /** Events recorded per second during the loads. */
  rate: number
  /** Microseconds of CPU per event. */
  cpu: Record<Part, number>
  /** Total of all parts of the product. */
  cpuTotal: number
  cpuGenerator: number
  walBytesPerEvent: number
  observed: Observed
  /** Average number of events that were processed together. */
  groups: Groups
  /** Seconds from the last response until everything was in ClickHouse. */
  settleSeconds: number
}

export const GENERATOR = new URL('generator/main.ts', import.meta.url)

/** @param plans concurrent loads (at least one), each with its own generator */
export async function measure(stack: Stack, plans: LoadPlan[]): Promise<Measured> {
  const generators = await Promise.all(plans.map((plan) => startTask<LoadResult>(GENERATOR, plan)))
  await untilQuiet(stack)
  const groupsBefore = await readGroups(stack)
  const before = await look(stack)
  const observer = observe(stack)
  const loads = await Promise.all(generators.map((generator) => generator.go()))
  const answeredAt = performance.now()
  await untilQuiet(stack)
  const settleSeconds = (performance.now() - answeredAt) / 1000
  const after = await look(stack)
  const observed = await observer.stop()
  await Promise.all(generators.map((generator) => generator.end()))
  const [load] = loads
  const inAnswers = (of: (load: LoadResult) => number) =>
    loads.reduce((sum, one, at) => sum + of(one) * eventsIn(plans[at]?.traffic), 0)
  const events = inAnswers(acknowledged)
  if (!load || events === 0)
    throw new Error(`Nothing was recorded: ${JSON.stringify(loads.map(({ answers }) => answers))}`)
  const cpu = Object.fromEntries(PARTS.map((part) => [part, (after.cpu[part] - before.cpu[part]) / events])) as Record<
    Part,
    number
  >
  return {
    load,
    loads,
    events,
    rate: inAnswers(({ inTime, seconds }) => inTime / seconds),
    cpu,
    cpuTotal: Object.values(cpu).reduce((sum, us) => sum + us, 0),
    cpuGenerator: loads.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / events,
    walBytesPerEvent: (after.wal - before.wal) / events,
    observed,
    groups: await untilReported(stack, groupsBefore, events),
    settleSeconds,
  }
}

/** Number of requests that were answered with 200, or accepted to be applied once. */
export const acknowledged = ({ answers }: LoadResult): number => (answers['200'] ?? 0) + (answers['202'] ?? 0)

async function look({ pids, own: { sql } }: Stack) {
  const [row] = await sql<[{ wal: number }]>`select (pg_current_wal_lsn() - '0/0')::float8 as wal`
  return { cpu: readCpu(pids), wal: row.wal }
}

const QUIET_MS = 120_000

/** Waits until the streams and the outbox are empty. */
export async function untilQuiet({ streams, own: { sql, redis } }: Stack): Promise<void> {
  const deadline = Date.now() + QUIET_MS
  while (Date.now() < deadline) {
    const entries = await countWaiting(redis, streams)
    // In this order, because entries that have left a stream are already in the outbox.
    const [outbox] = await sql`select 1 from outbox where shipped_at is null limit 1`
    if (!outbox && entries === 0) return
    await sleep(20)
  }
  throw new Error(`The product is not at rest after ${QUIET_MS} ms`)
}
