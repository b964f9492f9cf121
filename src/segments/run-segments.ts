import { backoffMs } from '../async/backoff.ts'
import { sleep } from '../async/sleep.ts'
import { takeLease } from '../timeline/lease.ts'
import { buildMembers } from './build-members.ts'
import { findWork, hasWindowWork } from './find-work.ts'
import { foldSizes } from './fold-sizes.ts'
import { logSwitched } from './log-switched.ts'
import { removeRetired } from './remove-retired.ts'
import { type Nominations, createNominations } from './nominations.ts'
import type { WindowDeps } from './segment-deps.ts'
import { settleDue } from './settle-due.ts'
import { type WindowProgress, runWindows } from './windows/run-windows.ts'

/** How often it looks for due contacts and edited rules. */
const LOOK_MS = 1000
const FOLD_MS = 10_000
const RETRY = { firstMs: 100, maxMs: 3000 }

/**
 * Does the work that no request causes: membership changes by time, and the members of edited rules. Runs until
 * `signal` aborts. Any number of processes may run it: one works, the others stand by. Each save asserts the state that
 * it was decided from, so that two workers at once do nothing twice.
 */
export async function runSegments(deps: WindowDeps, signal: AbortSignal): Promise<void> {
  const lease = await takeLease(deps, deps.config.leaseMs, 'segment_lease')
  const progress: WindowProgress = { isCurrent: true, hasWork: false }
  const windows = runWindows(deps, lease, progress, signal)
  const nominations = createNominations(deps, signal)
  let foldAt = 0
  let failures = 0
  while (!signal.aborted) {
    try {
      // Another process continues the passes.
      if (!lease.isHeld()) nominations.keepOnly([])
      const waitMs = lease.isHeld() ? await runRound(deps, { progress, nominations }, signal) : LOOK_MS
      if (lease.isHeld() && performance.now() >= foldAt) {
        await foldSizes(deps)
        foldAt = performance.now() + FOLD_MS
      }
      failures = 0
      if (waitMs > 0) await sleep(waitMs, signal)
    } catch (error) {
      if (signal.aborted) break
      failures += 1
      deps.log.warn({ err: error }, 'segments were not settled, trying again')
      await sleep(backoffMs(failures, RETRY), signal)
    }
  }
  await windows
  await lease.release().catch((error: unknown) => deps.log.warn({ err: error }, 'segment lease not released'))
}

/** Due contacts come before everything else. Returns the milliseconds until something is due. */
async function runRound(
  deps: WindowDeps,
  { progress, nominations }: { progress: WindowProgress; nominations: Nominations },
  signal: AbortSignal,
): Promise<number> {
  const work = await findWork(deps.sql)
  progress.hasWork = hasWindowWork(work)
  const { nextDue, hasSwitched, hasBuilds, hasRetired } = work
  if (!hasBuilds) nominations.keepOnly([])
  const isDue = nextDue !== null && nextDue <= deps.now()
  const next = isDue ? await settleDue(deps, progress.isCurrent) : nextDue
  if (next === 'more') return 0
  const isBusy = [
    hasSwitched && (await logSwitched(deps)),
    hasBuilds && (await buildMembers(deps, signal, nominations)),
    hasRetired && (await removeRetired(deps)),
  ].includes(true)
  if (isBusy) return 0
  return next === null ? LOOK_MS : Math.min(LOOK_MS, Math.max(0, next - deps.now()))
}
