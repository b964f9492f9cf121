import type { Config } from '../config.ts'
import { backoffMs } from '../async/backoff.ts'
import { sleep } from '../async/sleep.ts'
import { setWebEventRetention } from '../web-events/set-retention.ts'
import { forgetVisitors } from './forget-visitors.ts'
import { createErasureMask } from './mask-erased-contacts.ts'
import { requireSameInstallation } from '../stores/installation.ts'
import { describeFault } from '../stores/insert-lines.ts'
import { type Lease, takeLease } from './lease.ts'
import { type PendingWorkWatcher, watchPendingWork } from './pending-work.ts'
import { purgeOutbox } from '../outbox/purge-outbox.ts'
import { runBackgroundJobs } from './background-jobs.ts'
import { shipOutbox, shipResent } from './ship-outbox.ts'
import type { ShipDeps } from './ship-deps.ts'
import { type ShippingStatusDeps, type ShippingStatus, reportShippingFailure } from './shipping-status.ts'

export interface TimelineDeps extends ShipDeps, ShippingStatusDeps {
  /** Without `webEventsKeepDays` the retention of web events in ClickHouse stays as it is. */
  config: Pick<Config, 'leaseMs' | 'outboxKeepMs' | 'anonymousKeepMs'> & Partial<Pick<Config, 'webEventsKeepDays'>>
}

/**
 * Rows gather before they are taken: an insert of few costs nearly what one of thousands does. The more there were, the
 * longer it pays to wait for the next, from the beginning of one round to that of the next.
 */
const GATHER_MS = { min: 500, perEvent: 0.15, max: 2000 }
/** How often it looks for rows while there are none. */
const LOOK_MS = 1000
const RETRY = { firstMs: 250, maxMs: 3000 }

/**
 * Ships the outbox to ClickHouse, finishes erasures, purges what was shipped and forgets visitors who stay away, until
 * `signal` aborts. ClickHouse or Postgres being away delays it and loses nothing. Any number of processes may run it: one ships, the others stand by.
 */
export async function runTimeline(deps: TimelineDeps, signal: AbortSignal): Promise<void> {
  const lease = await takeLease(deps, deps.config.leaseMs)
  const periodicTasks = createPeriodicTasks(deps)
  const trouble = reportShippingFailure(deps, lease)
  const pending = watchPendingWork(deps.sql)
  const beside = runBackgroundJobs(deps, { lease, pending }, signal)
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
  await beside
  await lease.release().catch((error: unknown) => deps.log.warn({ err: error }, 'timeline lease not released'))
}

/** How long after its beginning the next is due, in milliseconds. */
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
    const waiting = await pending.look()
    const shipped = waiting.rows ? await shipOutbox(deps, lease, signal) : undefined
    // Between two groups: none is to be under way.
    if (waiting.erasures) await periodicTasks.hideErased()
    // In turn with what is new, so that neither holds up the other for long.
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
    // With Postgres away it cannot be reported.
    await trouble.failed(error).catch(() => undefined)
    return 'failed'
  }
}

export const batchDelayMs = (events: number): number =>
  Math.min(GATHER_MS.min + events * GATHER_MS.perEvent, GATHER_MS.max)

type PeriodicTasks = ReturnType<typeof createPeriodicTasks>

/** What is due now and then, each at its own pace. */
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

/** What answers `more` is due again at once: the rest has its turn after the shipping. */
function every(ms: number, run: () => Promise<unknown>): () => Promise<void> {
  let due = 0
  return async () => {
    if (performance.now() < due) return
    due = performance.now() + ms
    if ((await run()) === 'more') due = 0
  }
}
