import { purgeAudit } from '../audit/audit.ts'
import { sleep } from '../async/sleep.ts'
import { finishWebErasures } from '../erasure/finish-web-erasures.ts'
import { finishErasures } from '../erasure/finish-erasures.ts'
import { describeFault } from '../stores/insert-lines.ts'
import type { Lease } from './lease.ts'
import type { PendingWorkWatcher } from './shipping/pending-work.ts'
import { observeOutbox } from './shipping/observe-outbox.ts'
import { createDefinitionSender } from './shipping/send-segment-definitions.ts'
import type { ShipDeps } from './shipping/ship-deps.ts'
import { failureCause } from './shipping/shipping-status.ts'

const OBSERVE_MS = 5000
const ERASE_MS = 1000
const BACKOFF_MS = 3000
const PURGE_AUDIT_MS = 60_000
const SEND_DEFINITIONS_MS = 1000

interface BackgroundJob {
  ms: number
  isDue(): boolean
  /** The log message for a failure. */
  failureMessage: string
  run(): Promise<unknown>
}

/**
 * Runs the slow jobs in parallel with the shipping until `signal` aborts, such as measuring a long outbox, and having
 * ClickHouse rewrite large tables. A slow or failing job delays no events and no other job.
 */
export async function runBackgroundJobs(
  deps: ShipDeps,
  { lease, pending }: { lease: Lease; pending: PendingWorkWatcher },
  signal: AbortSignal,
): Promise<void> {
  const { sql, metrics } = deps
  const jobs: BackgroundJob[] = [
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
  jobs.push({
    ms: SEND_DEFINITIONS_MS,
    isDue: () => true,
    failureMessage: 'the definitions of segments were not sent, trying again',
    run: createDefinitionSender(deps),
  })
  jobs.push({
    ms: PURGE_AUDIT_MS,
    isDue: () => true,
    failureMessage: 'the audit log was not purged, trying again',
    run: () => purgeAudit(sql),
  })
  if (metrics)
    jobs.push({
      ms: OBSERVE_MS,
      isDue: () => true,
      failureMessage: 'outbox not measured',
      run: () => observeOutbox(sql, metrics),
    })
  await Promise.all(jobs.map((job) => repeat(deps, job, lease, signal)))
}

async function repeat(
  { log, metrics }: ShipDeps,
  job: BackgroundJob,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let failed = false
    try {
      if (lease.isHeld() && job.isDue()) await job.run()
    } catch (error) {
      if (signal.aborted) return
      log.warn({ reason: describeFault(error) }, job.failureMessage)
      metrics?.timelineFailures?.inc({ cause: failureCause(error) })
      failed = true
    }
    await sleep(failed ? BACKOFF_MS : job.ms, signal)
  }
}
