import { backoffMs } from '../../async/backoff.ts'
import { sleep } from '../../async/sleep.ts'
import { describeFault } from '../../stores/insert-lines.ts'
import type { Lease } from '../../timeline/lease.ts'
import { findWork } from '../find-work.ts'
import { removeRetired } from '../remove-retired.ts'
import type { WindowDeps } from '../segment-deps.ts'
import { type AwaitedRows, buildWindowed } from './build-windowed.ts'
import { type Postponed, createPostponed } from './postponed.ts'
import { settleWindows } from './settle-windows.ts'

/** How often it looks while there may be work, in milliseconds. */
const LOOK_MS = 250
const RETRY = { firstMs: 250, maxMs: 3000 }
/** Windows that are due for longer than this are not waited for. */
const LATE_MS = 3000

/** State that the two loops of the worker share. */
export interface WindowProgress {
  /** True while windows follow time. Otherwise other work continues with their last answers. */
  isCurrent: boolean
  /** True when there may be work that needs ClickHouse. While it is false, this loop makes no queries. */
  hasWork: boolean
}

/**
 * Does the work that needs ClickHouse: reads counts and sums of the timeline, and builds rules that use them. It runs
 * beside the other jobs, which continue while ClickHouse is away or slow. Runs until `signal` aborts.
 */
export async function runWindows(
  deps: WindowDeps,
  lease: Lease,
  progress: WindowProgress,
  signal: AbortSignal,
): Promise<void> {
  const round = { awaited: new Map<string, number>() satisfies AwaitedRows, postponed: createPostponed() }
  let failures = 0
  while (!signal.aborted) {
    try {
      const waitMs = lease.isHeld() && progress.hasWork ? await runRound(deps, round, progress, signal) : LOOK_MS
      failures = 0
      if (waitMs > 0) await sleep(waitMs, signal)
    } catch (error) {
      if (signal.aborted) break
      failures += 1
      progress.isCurrent = false
      deps.log.warn({ reason: describeFault(error) }, 'windows of segments were not read, trying again')
      await sleep(backoffMs(failures, RETRY), signal)
    }
  }
}

/** Returns the milliseconds until something is due. */
async function runRound(
  deps: WindowDeps,
  round: { awaited: AwaitedRows; postponed: Postponed },
  progress: WindowProgress,
  signal: AbortSignal,
): Promise<number> {
  const late = setTimeout(() => (progress.isCurrent = false), LATE_MS)
  try {
    const { nextWindowDue, hasRefreshes, hasBuilds, hasRetired } = await findWork(deps.sql)
    const isDue = hasRefreshes || (nextWindowDue !== null && nextWindowDue <= deps.now())
    const next = isDue ? await settleWindows(deps, round.postponed, signal) : nextWindowDue
    if (next === 'more') return 0
    const isLate = next !== null && next <= deps.now() - LATE_MS
    progress.isCurrent = !isLate
    const isBusy = [
      hasBuilds && (await buildWindowed(deps, round, signal)),
      hasRetired && (await removeRetired(deps, true)),
    ].includes(true)
    if (isBusy) return 0
    return next === null || next <= deps.now() ? LOOK_MS : Math.min(LOOK_MS, next - deps.now())
  } finally {
    clearTimeout(late)
  }
}
