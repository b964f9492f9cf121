import { sleep, untilNextTick } from '../async/sleep.ts'
import { finishWebErasures } from '../web-events/finish-web-erasures.ts'
import { finishErasures } from './finish-erasures.ts'
import { describeFault } from '../stores/insert-lines.ts'
import type { Lease } from './lease.ts'
import type { PendingWorkWatcher } from './pending-work.ts'
import { observeOutbox } from './observe-outbox.ts'
import type { ShipDeps } from './ship-deps.ts'
import { causeOf } from './shipping-status.ts'

const OBSERVE_MS = 5000
const ERASE_MS = 1000
const BACKOFF_MS = 3000

interface Work {
  ms: number
  isDue(): boolean
  /** The log message when it fails. */
  failureMessage: string
  run(): Promise<unknown>
}

/**
 * Runs the slow jobs until `signal` aborts, beside the shipping and beside each other: measuring a long outbox, and having
 * ClickHouse rewrite large tables. None of them delays an event, whether it is slow or fails.
 */
export async function startBackgroundJob(
  deps: ShipDeps,
  { lease, pending }: { lease: Lease; pending: PendingWorkWatcher },
  signal: AbortSignal,
): Promise<void> {
  const { sql, metrics } = deps
  const works: Work[] = [
    {
      ms: ERASE_MS,
      isDue: () => pending.seen().erasures,
      failureMessage: 'an erasure waits, trying again',
      run: () => finishErasures(deps, signal),
    },
    {
      ms: ERASE_MS,
      isDue: () => pending.seen().visits,
      failureMessage: 'an erasure of web events waits, trying again',
      run: () => finishWebErasures(deps, signal),
    },
  ]
  if (metrics)
    works.push({
      ms: OBSERVE_MS,
      isDue: () => true,
      failureMessage: 'outbox not measured',
      run: () => observeOutbox(sql, metrics),
    })
  await Promise.all(works.map((work) => repeat(deps, work, lease, signal)))
}

async function repeat({ log, metrics }: ShipDeps, work: Work, lease: Lease, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let failed = false
    try {
      if (lease.held() && work.isDue()) await work.run()
    } catch (error) {
      if (signal.aborted) return
      log.warn({ reason: describeFault(error) }, work.failureMessage)
      metrics?.timelineFailures?.inc({ cause: causeOf(error) })
      failed = true
    }
    await (failed ? sleep(BACKOFF_MS, signal) : untilNextTick(work.ms, signal))
  }
}
