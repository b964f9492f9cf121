import type { Config } from '../config.ts'
import { backoffMs } from '../async/backoff.ts'
import { sleep } from '../async/sleep.ts'
import { setWebEventRetention } from '../web-events/set-retention.ts'
import { forgetVisitors } from '../erasure/forget-visitors.ts'
import { createErasureMask } from './shipping/mask-erased-contacts.ts'
import { requireSameInstallation } from '../stores/installation.ts'
import { describeFault } from '../stores/insert-lines.ts'
import { type Lease, takeLease } from './lease.ts'
import { type PendingWorkWatcher, watchPendingWork } from './shipping/pending-work.ts'
import { noticeFailover } from '../stream/leases/lease.ts'
import { purgeOutbox } from '../outbox/purge-outbox.ts'
import { runBackgroundJobs } from './background-jobs.ts'
import { shipOutbox, shipResent } from './shipping/ship-outbox.ts'
import type { ShipDeps } from './shipping/ship-deps.ts'
import { type ShippingStatusDeps, type ShippingStatus, reportShippingFailure } from './shipping/shipping-status.ts'

export interface TimelineDeps extends ShipDeps, ShippingStatusDeps {
  /** Without `webEventsKeepDays`, the retention of web events in ClickHouse stays unchanged. */
  config: Pick<Config, 'leaseMs' | 'outboxKeepMs' | 'anonymousKeepMs'> & Partial<Pick<Config, 'webEventsKeepDays'>>
}

/**
 * Delays between the start of one round and the start of the next. Rows are collected first: an insert of a few costs
 * nearly as much as an insert of thousands. The more events a round had, the longer the wait.
 */
const GATHER_MS = { min: 500, perEvent: 0.15, max: 2000 }
/** Interval between checks while there are no rows. */
const LOOK_MS = 1000
const RETRY = { firstMs: 250, maxMs: 3000 }

/**
 * Until `signal` aborts, ships the outbox to ClickHouse, finishes erasures, purges shipped rows and forgets visitors
 * who have not come back. While ClickHouse or Postgres is away, this is delayed, but nothing is lost. Any number of
 * processes may run it: one ships, the others stand by.
 */
export async function runTimeline(deps: TimelineDeps, signal: AbortSignal): Promise<void> {
  const lease = await takeLease(deps, deps.config.leaseMs)
  const periodicTasks = createPeriodicTasks(deps)
  const trouble = reportShippingFailure(deps, lease)
  const pending = watchPendingWork(deps.sql)
  const background = runBackgroundJobs(deps, { lease, pending }, signal)
  let failures = 0
  while (!signal.aborted) {
    const isOurs = lease.isHeld()
    if (!isOurs) trouble.none()
    const began = performance.now()
    const wait = isOurs ? await runRound(deps, { lease, pending, periodicTasks, trouble }, signal) : GATHER_MS.min
    failures = wait === 'failed' ? failures + 1 : 0
    if (wait === 'failed') await sleep(backoffMs(failures, RETRY), signal)
    else await sleep(Math.max(0, began + wait - performance.now()), signal)
  }
  await background
  await lease.release().catch((error: unknown) => deps.log.warn({ err: error }, 'timeline lease not released'))
}

/** Resolves with the milliseconds from the start of this round to the start of the next. */
async function runRound(
  deps: TimelineDeps,
  {
    lease,
    pending,
    periodicTasks,
    trouble,
  }: { lease: Lease; pending: PendingWorkWatcher; periodicTasks: PeriodicTasks; trouble: ShippingStatus },
  signal: AbortSignal,
): Promise<number | 'failed'> {
  try {
    await requireSameInstallation(deps)
    if (await noticeFailover(deps.sql))
      deps.log.warn('Postgres has failed over: what waits is compared with ClickHouse')
    const waiting = await pending.look()
    const shipped = waiting.rows ? await shipOutbox(deps, lease, signal) : undefined
    // Between two groups: no group may be in progress.
    if (waiting.erasures) await periodicTasks.hideErased()
    // Alternates with new rows, so that neither delays the other for long.
    const resent = waiting.rows && (await shipResent(deps, lease, signal))
    await periodicTasks.purge()
    await periodicTasks.forget()
    await periodicTasks.keepWeb()
    if (waiting.trouble) await trouble.succeeded()
    else trouble.none()
    if (resent || shipped?.moreWaits) return 0
    return shipped ? batchDelayMs(shipped.events) : LOOK_MS
  } catch (error) {
    if (signal.aborted) return 'failed'
    deps.log.warn({ reason: describeFault(error) }, 'timeline not shipped, trying again')
    // While Postgres is away, the failure cannot be reported.
    await trouble.failed(error).catch(() => undefined)
    return 'failed'
  }
}

export const batchDelayMs = (events: number): number =>
  Math.min(GATHER_MS.min + events * GATHER_MS.perEvent, GATHER_MS.max)

type PeriodicTasks = ReturnType<typeof createPeriodicTasks>

/** Tasks that are due from time to time, each at its own interval. */
function createPeriodicTasks(deps: TimelineDeps) {
  const { sql, clickhouse, config } = deps
  return {
    hideErased: every(1000, createErasureMask(deps)),
    purge: every(10_000, () => purgeOutbox(sql, config.outboxKeepMs)),
    forget: every(10_000, () => forgetVisitors(sql, Date.now() - config.anonymousKeepMs)),
    keepWeb: every(60_000, async () => {
      if (config.webEventsKeepDays !== undefined) await setWebEventRetention(clickhouse, config.webEventsKeepDays)
    }),
  }
}

/** A task that resolves with `more` is due again in the next round, after the shipping. */
function every(ms: number, run: () => Promise<unknown>): () => Promise<void> {
  let due = 0
  return async () => {
    if (performance.now() < due) return
    due = performance.now() + ms
    if ((await run()) === 'more') due = 0
  }
}
