/** Sends the messages of calls. It is apart from campaigns, so that no number of their messages is in the way of a call. */
import { backoffMs } from '../../async/backoff.ts'
import { sleep } from '../../async/sleep.ts'
import type { Attempt } from '../../campaigns/engine/send/attempt.ts'
import type { CallEngineDeps } from './call-engine-deps.ts'
import { type ClaimedCall, claimCalls } from './claim-calls.ts'
import { sendCall } from './send-call.ts'
import { settleCall } from './settle-call.ts'

/** Messages that one worker has in flight. When it dies, at most these are unsettled. */
export const MAX_IN_FLIGHT = 128
/** Per business: its provider may hang, and others must not wait for it. */
export const MAX_OF_A_BUSINESS = 32
/** A call wakes the loop. It looks by itself in case the wake-up was lost, after as many milliseconds. */
const LOOK_MS = 5000
/** Backoff when others hold what is due. */
const HELD = { firstMs: 50, maxMs: 1000 }
const RETRY = { firstMs: 100, maxMs: 3000 }
const TIDY_MS = 60_000

/**
 * Runs until `signal` aborts, then finishes the messages in flight. Any number of processes may run it: each leaves what
 * others have locked or claimed.
 */
export async function runCalls(deps: CallEngineDeps, signal: AbortSignal): Promise<void> {
  const state: LoopState = { inFlight: new Set(), ofBusiness: new Map(), fruitless: 0 }
  let failures = 0
  let tidyAt = 0
  while (!signal.aborted) {
    deps.wakeUps.clear()
    try {
      const waitMs = await runRound(deps, state)
      failures = 0
      if (performance.now() >= tidyAt) {
        tidyAt = performance.now() + TIDY_MS
        deps.transports.closeIdle()
      }
      if (waitMs > 0) await Promise.race([deps.wakeUps.sleep(waitMs, signal), ...state.inFlight])
    } catch (error) {
      failures += 1
      deps.log.warn({ err: error }, 'messages of calls were not claimed, trying again')
      await sleep(backoffMs(failures, RETRY), signal)
    }
  }
  await Promise.all(state.inFlight)
}

interface LoopState {
  inFlight: Set<Promise<void>>
  /** Number of messages in flight by business. */
  ofBusiness: Map<string, number>
  /** Number of rounds in a row in which something was due that could not be claimed. */
  fruitless: number
}

/** Returns the milliseconds until there is something to do. */
async function runRound(deps: CallEngineDeps, state: LoopState): Promise<number> {
  const { inFlight, ofBusiness } = state
  const room = MAX_IN_FLIGHT - inFlight.size
  if (room === 0) return LOOK_MS
  const claimedAt = performance.now()
  const roomOf = (businessId: string) => MAX_OF_A_BUSINESS - (ofBusiness.get(businessId) ?? 0)
  const { sends, moved, isDue, nextAt } = await claimCalls(deps, room, roomOf)
  const startBy = claimedAt + deps.leaseMs - 2 * deps.attemptMs
  for (const call of sends) start(state, call, process(deps, call, startBy))
  if (moved > 0) {
    state.fruitless = 0
    return 0
  }
  state.fruitless = isDue ? state.fruitless + 1 : 0
  const heldMs = isDue ? backoffMs(state.fruitless, HELD) : LOOK_MS
  return Math.min(heldMs, nextAt === null ? LOOK_MS : Math.max(1, nextAt - deps.now()))
}

function start({ inFlight, ofBusiness }: LoopState, { businessId }: ClaimedCall, working: Promise<void>): void {
  const count = (by: 1 | -1) => {
    const many = (ofBusiness.get(businessId) ?? 0) + by
    if (many > 0) ofBusiness.set(businessId, many)
    else ofBusiness.delete(businessId)
  }
  count(1)
  const done = working.finally(() => {
    inFlight.delete(done)
    count(-1)
  })
  inFlight.add(done)
}

const PAUSED: Attempt = {
  outcome: { kind: 'temporary', reason: 'the sending process was paused' },
  provider: null,
  from: null,
  rendered: null,
}

/** Never rejects. A message whose outcome cannot be recorded becomes `unknown` once its claim has expired. */
async function process(deps: CallEngineDeps, call: ClaimedCall, startBy: number): Promise<void> {
  const { messageId: message } = call
  try {
    const isLate = performance.now() > startBy
    const attempt = isLate ? PAUSED : await sendCall(deps, call, AbortSignal.timeout(deps.attemptMs))
    const { state } = await settleCall(deps, call, attempt)
    if (state !== 'sent') deps.log.warn({ message, state, attempts: call.attempts }, 'a message of a call was not sent')
  } catch (error) {
    deps.log.warn({ err: error, message }, 'the outcome of a message of a call could not be recorded')
  }
}
