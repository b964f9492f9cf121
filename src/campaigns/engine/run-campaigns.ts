/** Moves enrolments through their steps, and sends their messages. */
import { backoffMs } from '../../async/backoff.ts'
import { createBarrier } from '../../async/barrier.ts'
import { sleep } from '../../async/sleep.ts'
import { applyUpdate } from './apply-update.ts'
import type { Attempt } from './send/attempt.ts'
import { forgetFormer } from '../../messages/callbacks/former-provider.ts'
import { checkWanted } from '../../messages/channels/keep-check.ts'
import { forgetOutcomes } from '../../messages/channels/pause-channel.ts'
import { type ClaimedSend, claimDue } from './claim/claim-due.ts'
import { endArchived } from './end-archived.ts'
import type { EngineDeps } from './engine-deps.ts'
import { enrolBroadcast } from './enrol-broadcast.ts'
import { findWork, hasNewlyDue } from './claim/find-work.ts'
import { followBusinessZone } from './follow-business-zone.ts'
import { forgetValues } from './send/forget-values.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { resolveTxt } from '../../outbound/resolve-txt.ts'
import { sendMessage } from './send/send-message.ts'
import { settle } from './settle/settle.ts'

/**
 * Maximum number of messages and updates that one worker has in flight. When the worker dies, at most these messages are
 * unsettled.
 */
export const MAX_IN_FLIGHT = 64
/** How often it looks for due enrolments when nothing wakes it, in milliseconds. */
const LOOK_MS = 1000
/** Backoff when others hold what is due, which is short, or when its business is inactive, which lasts long. */
const HELD = { firstMs: 50, maxMs: LOOK_MS }
/** A claim waits until at most this many messages are in flight, and no longer than CAPACITY_MS milliseconds. */
const FEW_IN_FLIGHT = MAX_IN_FLIGHT / 4
const CAPACITY_MS = 50
/**
 * How long a rendered message waits for the others of its claim, in milliseconds, so that few statements record their
 * outcomes.
 */
const GATHER_MS = 200
const RETRY = { firstMs: 100, maxMs: 3000 }
const TIDY_MS = 60_000
/** How often it checks whether tables have grown, in milliseconds, while something is due. */
const STATISTICS_MS = 1000

/**
 * Runs until `signal` aborts, then finishes the messages in flight. Any number of processes may run it: each leaves what
 * others have locked or claimed.
 */
export async function runCampaigns(deps: EngineDeps, signal: AbortSignal): Promise<void> {
  const inFlight = new Set<Promise<void>>()
  const state: EngineState = {
    inFlight,
    ofBusiness: new Map(),
    fruitless: 0,
    heldUntil: 0,
    soughtAt: 0,
    statistics: null,
    statisticsAt: 0,
    isChecking: false,
  }
  let tidyAt = 0
  let failures = 0
  while (!signal.aborted) {
    await waitForCapacity(state, signal)
    deps.wakeUps.clear()
    try {
      const waitMs = await runRound(deps, state)
      if (performance.now() >= tidyAt) {
        tidyAt = performance.now() + TIDY_MS
        deps.transports.closeIdle()
        await forgetValues(deps)
        await forgetOutcomes(deps.sql, deps.now())
        await forgetFormer(deps.sql, deps.now())
      }
      failures = 0
      // A settled message makes the next step due.
      if (waitMs > 0) await Promise.race([deps.wakeUps.sleep(waitMs, signal), ...inFlight])
    } catch (error) {
      failures += 1
      deps.log.warn({ err: error }, 'campaigns were not moved, trying again')
      await sleep(backoffMs(failures, RETRY), signal)
    }
  }
  await Promise.all([...inFlight, state.statistics])
}

interface EngineState {
  inFlight: Set<Promise<void>>
  /** Number of messages in flight by business. */
  ofBusiness: Map<string, number>
  /** Number of rounds in a row in which something was due that could not be moved. */
  fruitless: number
  /** Time at which the backoff of fruitless rounds ends. */
  heldUntil: number
  /** Instant of the last claim, in epoch milliseconds. */
  soughtAt: number
  /** Resolves when the statistics have been checked. Null: no check is running. */
  statistics: Promise<void> | null
  /** Time of the next check. */
  statisticsAt: number
  /** Records of senders are being looked up. */
  isChecking: boolean
}

/**
 * A claim of few messages costs nearly as much as a claim of many, and messages end one after the other, so the claim
 * waits for capacity.
 */
async function waitForCapacity({ inFlight }: EngineState, signal: AbortSignal): Promise<void> {
  const until = performance.now() + CAPACITY_MS
  for (
    let left = CAPACITY_MS;
    left > 0 && inFlight.size > FEW_IN_FLIGHT && !signal.aborted;
    left = until - performance.now()
  )
    await Promise.race([sleep(left, signal), ...inFlight])
}

/** Returns the milliseconds until there is something to do. */
async function runRound(deps: EngineDeps, state: EngineState): Promise<number> {
  const { inFlight, ofBusiness } = state
  const work = await findWork(deps)
  if (work.isEnding && (await endArchived(deps))) return 0
  if (work.hasChecks && !state.isChecking) void checkSenders(deps, state)
  // One set of each, then other due work.
  const hasEnrolled = msUntil(deps, work.nextBroadcast) === 0 && (await enrolBroadcast(deps))
  const hasFollowed = work.hasZones && (await followBusinessZone(deps))
  const isBusy = hasEnrolled || hasFollowed
  const waitMs = msUntil(deps, work.nextDue)
  const room = MAX_IN_FLIGHT - inFlight.size
  if (waitMs > 0 || room === 0)
    return isBusy ? 0 : Math.min(waitMs || LOOK_MS, msUntil(deps, work.nextBroadcast) || LOOK_MS)
  const heldMs = state.heldUntil - performance.now()
  if (!isBusy && heldMs > 0 && !(await hasNewlyDue(deps, state.soughtAt))) return heldMs
  state.soughtAt = deps.now()
  if (state.statistics === null && performance.now() >= state.statisticsAt)
    state.statistics = keepStatistics(deps, state)
  const claimedAt = performance.now()
  const { sends, updates, moved } = await claimDue(deps, room, (businessId) => ofBusiness.get(businessId) ?? 0)
  const startBy = claimedAt + deps.leaseMs - 2 * deps.attemptMs
  const gather = createBarrier({ many: sends.length, ms: GATHER_MS })
  for (const [{ businessId }, working] of [
    ...sends.map((claimed) => [claimed, process(deps, claimed, { startBy, gather })] as const),
    ...updates.map((claimed) => [claimed, applyUpdate(deps, claimed)] as const),
  ]) {
    const count = (by: 1 | -1) => {
      const many = (ofBusiness.get(businessId) ?? 0) + by
      if (many > 0) ofBusiness.set(businessId, many)
      else ofBusiness.delete(businessId)
    }
    count(1)
    const done = working.finally(() => {
      inFlight.delete(done)
      count(-1)
      // There is room for another message of its business.
      state.heldUntil = 0
    })
    inFlight.add(done)
  }
  state.fruitless = moved > 0 ? 0 : state.fruitless + 1
  const backMs = moved > 0 || isBusy ? 0 : backoffMs(state.fruitless, HELD)
  state.heldUntil = performance.now() + backMs
  return backMs
}

/** Runs beside the claims, so that messages do not wait for it. Never rejects. A stop does not wait for it either. */
async function checkSenders(deps: EngineDeps, state: EngineState): Promise<void> {
  state.isChecking = true
  try {
    await checkWanted({ ...deps, resolveTxt })
  } catch (error) {
    deps.log.warn({ err: error }, 'the records of a sender were not looked up')
    await sleep(RETRY.maxMs)
  }
  state.isChecking = false
}

/** Runs beside the claims, so that messages do not wait for it. Never rejects. */
async function keepStatistics({ sql, log }: EngineDeps, state: EngineState): Promise<void> {
  let againMs = STATISTICS_MS
  try {
    await refreshStatistics(sql)
  } catch (error) {
    log.warn({ err: error }, 'the statistics of tables that have grown were not refreshed')
    againMs = TIDY_MS
  }
  state.statisticsAt = performance.now() + againMs
  state.statistics = null
}

/** At most LOOK_MS. `at`: epoch milliseconds; null: never. */
const msUntil = ({ now }: EngineDeps, at: number | null): number =>
  at === null ? LOOK_MS : Math.min(LOOK_MS, Math.max(0, at - now()))

const PAUSED: Attempt = {
  outcome: { kind: 'temporary', reason: 'the sending process was paused' },
  provider: null,
  from: null,
  rendered: null,
}

/** Never rejects. A message whose outcome cannot be recorded becomes `unknown` once its claim has expired. */
async function process(
  deps: EngineDeps,
  claimed: ClaimedSend,
  { startBy, gather }: { startBy: number; gather: () => Promise<void> },
): Promise<void> {
  const { messageId: message, campaignId: campaign } = claimed
  try {
    const isLate = performance.now() > startBy
    const attempt = isLate
      ? await gather().then(() => PAUSED)
      : await sendMessage(deps, claimed, AbortSignal.timeout(deps.attemptMs), gather)
    const { state } = await settle(deps, claimed, attempt)
    if (state !== 'sent')
      deps.log.warn({ message, campaign, state, attempts: claimed.attempts }, 'a message of a campaign was not sent')
  } catch (error) {
    deps.log.warn({ err: error, message, campaign }, 'the outcome of a message could not be recorded')
  }
}
