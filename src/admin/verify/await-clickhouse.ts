/** Lets a long command wait for a ClickHouse that starts late or is away for a while, instead of ending it. */
import { ClickHouseError } from '@clickhouse/client'
import { sleep } from '../../async/sleep.ts'
import { type ClickHouseClient, isAlive } from '../../stores/clickhouse.ts'
import { unreachableCode } from '../../stores/require-stores.ts'
import { CommandError } from '../command.ts'
import type { CompareDeps } from './kind.ts'

const RETRY_MS = 500

export interface Waiting extends Pick<CompareDeps, 'clickhouse' | 'signal' | 'showStatus'> {
  /** How long ClickHouse may be away each time. */
  waitMs: number
}

/**
 * Returns a client whose reads and commands are repeated until ClickHouse answers. An answer is read whole before it is
 * returned, so that one that breaks off is repeated, too. Only for commands that may run twice.
 */
export function awaitClickHouse(waiting: Waiting): ClickHouseClient {
  const { clickhouse } = waiting
  const query = async (params: Parameters<typeof clickhouse.query>[0]) => {
    const rows = await untilAnswered(waiting, async () => (await clickhouse.query(params)).json())
    return { json: async () => Promise.resolve(rows) }
  }
  const command = (params: Parameters<typeof clickhouse.command>[0]) =>
    untilAnswered(waiting, () => clickhouse.command(params))
  const makeInternal = () => untilAnswered(waiting, () => clickhouse.makeInternal())
  return Object.create(clickhouse, {
    query: { value: query },
    command: { value: command },
    makeInternal: { value: makeInternal },
  }) as ClickHouseClient
}

async function untilAnswered<Result>(waiting: Waiting, work: () => Promise<Result>): Promise<Result> {
  let awayAt: number | undefined
  for (;;) {
    const askedAt = performance.now()
    try {
      return await work()
    } catch (error) {
      if (waiting.signal.aborted || !(await isAway(waiting.clickhouse, error))) throw error
      awayAt ??= askedAt
      await untilAlive(waiting, awayAt, error)
    }
  }
}

/** Pings, because a statement sent to a frozen ClickHouse fails only after a minute. */
async function untilAlive(waiting: Waiting, awayAt: number, error: unknown): Promise<void> {
  const { clickhouse, signal, showStatus, waitMs } = waiting
  do {
    const waitedMs = performance.now() - awayAt
    if (waitedMs >= waitMs) throw awayFor(waitedMs, error)
    showStatus(`waiting for ClickHouse, which does not answer: ${seconds(waitedMs)} of ${seconds(waitMs)}`)
    await sleep(Math.min(RETRY_MS, waitMs - waitedMs), signal)
    if (signal.aborted) throw error
  } while (!(await isAlive(clickhouse)))
}

/** What ClickHouse answers is its own fault or the statement's. Some errors of a connection have no code. */
async function isAway(clickhouse: ClickHouseClient, error: unknown): Promise<boolean> {
  if (error instanceof ClickHouseError) return false
  return unreachableCode(error) !== undefined || !(await isAlive(clickhouse))
}

function awayFor(waitedMs: number, error: unknown): CommandError {
  const reason = unreachableCode(error) ?? (error as Error).message
  const message =
    `ClickHouse has not answered for ${seconds(waitedMs)} (${reason}). Start it, or correct CLICKHOUSE_URL, ` +
    'then run the command again. What was repaired so far stays. To wait longer: admin verify --wait 10m'
  return new CommandError('clickhouse_away', message)
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`
