/** The backtests of one front door. */
import { uuidv7 } from 'uuidv7'
import { sleep } from '../../async/sleep.ts'
import type { Logger } from '../../log.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import { BacktestError } from './backtest-error.ts'
import { type Backtest, beginBacktest, endBacktest, renewBacktest, readBacktest } from './backtest-store.ts'
import { type BacktestRequest, planBacktest } from './plan-backtest.ts'
import { runBacktest } from './run-backtest.ts'

export interface BacktestDeps {
  sql: Sql
  clickhouse: ClickHouseClient
  redis: Redis
  log: Logger
  /** Epoch milliseconds. */
  now: () => number
  holdEveryMs?: number
  maxEntrants?: number
}

export interface BacktestKey {
  businessId: string
  campaignId: string
  backtestId: string
}

export interface Backtests {
  /**
   * Resolves at once; the backtest continues in this process. `campaign`, `business`: which of them has the maximum
   * number of running backtests.
   */
  start(asked: BacktestRequest): Promise<Backtest | 'campaign' | 'business'>
  /** Also finds backtests of other processes. Null: there is none, or it was deleted. */
  read(key: BacktestKey): Promise<Backtest | null>
  /** Ends a running backtest. Any other stays unchanged. */
  cancel(key: BacktestKey): Promise<Backtest | null>
  /** Ends the backtests that run in this process. */
  close(): Promise<void>
}

const HOLD_MS = 1000

export function createBacktests(deps: BacktestDeps): Backtests {
  const { redis, now } = deps
  const closing = new AbortController()
  const inTurn = createTurns()
  const running = new Set<Promise<void>>()
  return {
    async start(asked) {
      const plan = planBacktest(asked)
      const { business, campaign } = asked
      const backtest: Backtest = {
        backtestId: uuidv7(),
        campaignId: campaign.campaignId,
        version: campaign.version,
        from: isoTime(asked.from),
        to: isoTime(asked.to),
        status: 'running',
        startedAt: isoTime(now()),
        endedAt: null,
        progress: { done: 0, total: null },
        result: null,
        error: null,
      }
      const begun = await beginBacktest(redis, business.id, backtest)
      if (begun !== 'begun') return begun
      const run = runHeld(deps, { businessId: business.id, backtest, closing: closing.signal }, (held) =>
        runBacktest({ ...deps, ...held, inTurn }, plan),
      )
      running.add(run)
      void run.finally(() => running.delete(run))
      return backtest
    },
    read: (key) => readBacktest(redis, key),
    async cancel(key) {
      const backtest = await readBacktest(redis, key)
      if (backtest?.status !== 'running') return backtest
      const cancelled = { ...backtest, status: 'cancelled' as const, endedAt: isoTime(now()) }
      // A backtest that ends at this moment keeps its result.
      return (await endBacktest(redis, key.businessId, cancelled)) ? cancelled : await readBacktest(redis, key)
    },
    async close() {
      closing.abort(new BacktestError('The process that ran it was stopped. Start the backtest again.'))
      await Promise.allSettled(running)
    },
  }
}

const isoTime = (at: number): string => new Date(at).toISOString()

/** After a piece of work, the rest of the process gets as much time, up to this many milliseconds. */
const REST_MS = 100

/** Runs one piece of work at a time, in the order of requests: all backtests of a front door share one place. */
export function createTurns(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    const began = last.then(() => performance.now())
    last = Promise.allSettled([result, began]).then(async ([, since]) => {
      const tookMs = since.status === 'fulfilled' ? performance.now() - since.value : 0
      await sleep(Math.min(REST_MS, tookMs))
    })
    return result
  }
}

interface HeldRun {
  businessId: string
  backtest: Backtest
  closing: AbortSignal
}

/** Renews the lease in Redis while the backtest runs, and stops it when another process has ended it there. */
async function runHeld(
  { redis, log, now, holdEveryMs = HOLD_MS }: BacktestDeps,
  { businessId, backtest, closing }: HeldRun,
  run: (held: {
    signal: AbortSignal
    onProgress: (progress: Backtest['progress']) => void
  }) => Promise<Backtest['result']>,
): Promise<void> {
  const lost = new AbortController()
  const signal = AbortSignal.any([lost.signal, closing])
  let current = backtest
  const hold = async (): Promise<void> => {
    try {
      if (!(await renewBacktest(redis, businessId, current))) lost.abort()
    } catch (error) {
      log.warn({ err: error }, 'the progress of a backtest could not be reported')
    }
  }
  const ended = new AbortController()
  const holding = (async () => {
    while (!ended.signal.aborted) {
      await sleep(holdEveryMs, ended.signal)
      if (!ended.signal.aborted && !lost.signal.aborted) await hold()
    }
  })()
  const onProgress = (progress: Backtest['progress']): void => void (current = { ...current, progress })
  const outcome = await run({ signal, onProgress }).then(
    (result) => ({ status: 'done' as const, result }),
    (error: unknown) => ({ status: 'failed' as const, error }),
  )
  ended.abort()
  await holding
  if (lost.signal.aborted) return
  const end =
    outcome.status === 'done'
      ? outcome
      : { ...outcome, error: wordsOf(closing.aborted ? closing.reason : outcome.error, log) }
  const last: Backtest = { ...current, ...end, endedAt: isoTime(now()) }
  await endBacktest(redis, businessId, last).catch((error: unknown) =>
    log.warn({ err: error }, 'the end of a backtest could not be stored'),
  )
}

function wordsOf(error: unknown, log: Logger): string {
  if (error instanceof BacktestError) return error.message
  log.error({ err: error }, 'a backtest has failed')
  return 'Something went wrong on our side. Start the backtest again later.'
}
