import { backoffMs } from '../../../async/backoff.ts'
import { sleep } from '../../../async/sleep.ts'
import { createPostponed } from '../../../segments/windows/postponed.ts'
import { describeFault } from '../../../stores/insert-lines.ts'
import { takeLease } from '../../../timeline/lease.ts'
import { type BranchDeps, answerBranches } from './answer-branches.ts'
import { createSetSizes } from './set-sizes.ts'
import { createVersionCache } from '../claim/version-cache.ts'

/** How often it looks for branches that can be answered, with one index probe. */
const LOOK_MS = 1000
const TURN_MS = 5000
const RETRY = { firstMs: 250, maxMs: 3000 }

/**
 * Answers branches until `signal` aborts. It runs beside the engine, which continues while ClickHouse is away or slow.
 * Any number of processes may run it: one works, the others stand by.
 */
export async function runBranches(
  given: Omit<BranchDeps, 'versions' | 'sizes' | 'turnMs'>,
  signal: AbortSignal,
): Promise<void> {
  const deps = { ...given, versions: createVersionCache(), sizes: createSetSizes(), turnMs: TURN_MS }
  const lease = await takeLease(deps, deps.config.leaseMs, 'branch_lease')
  const postponed = createPostponed()
  let failures = 0
  while (!signal.aborted) {
    try {
      const answered = lease.isHeld() ? await answerBranches(deps, postponed, signal) : 0
      failures = 0
      if (answered === 0) await sleep(LOOK_MS, signal)
    } catch (error) {
      if (signal.aborted) break
      failures += 1
      deps.log.warn({ reason: describeFault(error) }, 'branches were not answered, trying again')
      await sleep(backoffMs(failures, RETRY), signal)
    }
  }
  await lease.release().catch((error: unknown) => deps.log.warn({ err: error }, 'branch lease not released'))
}
