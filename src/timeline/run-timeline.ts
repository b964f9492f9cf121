import type { Config } from '../config.ts'
import { pause } from '../stream/pause.ts'
import { finishErasures } from './finish-erasures.ts'
import { describeFault } from './insert-events.ts'
import { type Lease, takeLease } from './lease.ts'
import { observeOutbox } from './observe.ts'
import { purgeOutbox } from './purge-outbox.ts'
import { type ShipDeps, shipOutbox } from './ship-outbox.ts'

export interface TimelineDeps extends ShipDeps {
  config: Pick<Config, 'leaseMs' | 'outboxKeepMs'>
}

/** Rows gather for this long unless a group is waiting already: an insert of few costs nearly what one of thousands does. */
const POLL_MS = 500
/** From this many events on the next group is taken at once. */
const BUSY_EVENTS = 2000
const BACKOFF_MS = { first: 250, most: 3000 }

/**
 * Ships the outbox to ClickHouse, finishes erasures and purges what was shipped, until `signal` aborts. ClickHouse or
 * Postgres being away delays it and loses nothing. Any number of processes may run it: one ships, the others stand by.
 */
export async function runTimeline(deps: TimelineDeps, signal: AbortSignal): Promise<void> {
  const lease = await takeLease(deps, deps.config.leaseMs)
  const chores = createChores(deps)
  let failures = 0
  while (!signal.aborted) {
    const round = lease.held() ? await runRound(deps, lease, chores, signal) : 'idle'
    failures = round === 'failed' ? failures + 1 : 0
    if (round !== 'busy') await pause(failures > 0 ? backoffMs(failures) : POLL_MS, signal)
  }
  await lease.release().catch((error: unknown) => deps.log.warn({ err: error }, 'timeline lease not released'))
}

async function runRound(
  deps: TimelineDeps,
  lease: Lease,
  chores: Chores,
  signal: AbortSignal,
): Promise<'busy' | 'idle' | 'failed'> {
  try {
    await chores.observe()
    const events = await shipOutbox(deps, lease, signal)
    await chores.purge()
    // Only ever after a group has gone through: nothing of an earlier one can arrive behind an erasure.
    await chores.erase()
    return events !== undefined && events >= BUSY_EVENTS ? 'busy' : 'idle'
  } catch (error) {
    if (!signal.aborted) deps.log.warn({ reason: describeFault(error) }, 'timeline not shipped, trying again')
    return 'failed'
  }
}

const backoffMs = (failures: number): number => Math.min(BACKOFF_MS.first * 2 ** (failures - 1), BACKOFF_MS.most)

type Chores = ReturnType<typeof createChores>

/** What is due now and then, each at its own pace. */
function createChores(deps: TimelineDeps) {
  const { sql, metrics, config } = deps
  return {
    observe: every(5000, async () => metrics && (await observeOutbox(sql, metrics))),
    erase: every(1000, () => finishErasures(deps)),
    purge: every(10_000, () => purgeOutbox(sql, config.outboxKeepMs)),
  }
}

function every(ms: number, run: () => Promise<unknown>): () => Promise<void> {
  let due = 0
  return async () => {
    if (performance.now() < due) return
    await run()
    due = performance.now() + ms
  }
}
