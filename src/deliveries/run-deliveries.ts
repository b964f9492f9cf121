import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'
import type { Sql } from '../stores/postgres.ts'
import { sleep, untilNextTick } from '../async/sleep.ts'
import { type Claimed, claimDeliveries } from './claim-deliveries.ts'
import type { Verdict } from './conversion.ts'
import { hasDestination } from './destinations.ts'
import { keepGoogleTokens } from './google-token.ts'
import { HOLD_MS } from './classify-response.ts'
import { purgeDeliveries } from './purge-deliveries.ts'
import { SealError, openSecret } from './seal-secret.ts'
import { type SendDeps, sendConversion } from './send-conversion.ts'
import { type Settled, settleDelivery } from './settle-delivery.ts'
import { type Setup, SettingsError, readSetup } from './settings.ts'

export interface DeliveryDeps {
  sql: Sql
  log: Logger
  config: Pick<Config, 'secretsKey' | 'deliveryTries' | 'deliveriesKeepMs'>
  /** Counts attempts by what came of them. */
  metrics?: { deliveries: { inc(labels: { kind: string; outcome: Settled }): void } }
  /** For how long one attempt may take. Tests are less patient. */
  attemptMs?: number
  leaseMs?: number
}

const POLL_MS = 1000
/** Where conversions were never wanted, it is asked so often whether they are now. */
const UNWANTED_MS = 5000
const PURGE_MS = 60_000
const MOST_AT_ONCE = 32
const PER_DESTINATION = 4
/** A worker that stops waits for what it has under way. */
const ATTEMPT_MS = 10_000
const LEASE_MS = 30_000
/** After trouble with Postgres. */
const TROUBLE_MS = 3000

/**
 * Sends what is due until `signal` aborts, then finishes what is under way. Any number of processes may run it: each
 * delivery is sent by one at a time, and more than once only when its sender died or came too late.
 */
export async function runDeliveries(deps: DeliveryDeps, signal: AbortSignal): Promise<void> {
  const { attemptMs = ATTEMPT_MS, leaseMs = LEASE_MS } = deps
  const sendDeps = { tokens: keepGoogleTokens(), now: Date.now }
  const underWay = new Set<Promise<void>>()
  let isWanted = false
  let purgeAt = 0
  while (!signal.aborted) {
    try {
      isWanted ||= await hasDestination(deps.sql)
      if (!isWanted) {
        await untilNextTick(UNWANTED_MS, signal)
        continue
      }
      if (performance.now() >= purgeAt) {
        purgeAt = performance.now() + PURGE_MS
        // The rest has its turn after the sending.
        if ((await purgeDeliveries(deps.sql, deps.config.deliveriesKeepMs)) === 'more') purgeAt = 0
      }
      const asked = performance.now()
      const most = MOST_AT_ONCE - underWay.size
      const claimed = await claimDeliveries(deps.sql, { most, perDestination: PER_DESTINATION, leaseMs })
      for (const one of claimed) {
        const sending = deliver(deps, sendDeps, one, { attemptMs, startBy: asked + leaseMs - 2 * attemptMs })
        const done = sending.finally(() => underWay.delete(done))
        underWay.add(done)
      }
      // Until a place is free again, or something else may be due: one that hangs keeps nobody waiting.
      await Promise.race([...underWay, sleep(POLL_MS, signal)])
    } catch (error) {
      deps.log.warn({ err: error }, 'deliveries cannot be read, trying again')
      await sleep(TROUBLE_MS, signal)
    }
  }
  await Promise.all(underWay)
}

/** Its sender was, for so long that the claim may run out in the middle: it is another's then. */
const PAUSED: Verdict = { kind: 'retry', reason: 'its sender was paused', unsent: true }

/** Never rejects. What could not be written down is sent once more when its claim has run out. */
async function deliver(
  deps: DeliveryDeps,
  sendDeps: SendDeps,
  claimed: Claimed,
  { attemptMs, startBy }: { attemptMs: number; startBy: number },
): Promise<void> {
  try {
    const verdict =
      performance.now() > startBy ? PAUSED : await send(deps, sendDeps, claimed, AbortSignal.timeout(attemptMs))
    const outcome = await settleDelivery(deps.sql, claimed, verdict, { tries: deps.config.deliveryTries })
    if (outcome === undefined) return
    deps.metrics?.deliveries.inc({ kind: claimed.destination.kind, outcome })
    report(deps.log, claimed, verdict, outcome)
  } catch (error) {
    deps.log.warn({ err: error, delivery: claimed.id }, 'what came of a delivery could not be written down')
  }
}

async function send(
  { config }: DeliveryDeps,
  sendDeps: SendDeps,
  { destination, conversion }: Claimed,
  signal: AbortSignal,
): Promise<Verdict> {
  try {
    const { id, kind, settings, secret } = destination
    const setup: Setup = readSetup(kind, settings, openSecret(secret, id, config.secretsKey))
    return await sendConversion(sendDeps, { setup, conversion, isTest: false }, signal)
  } catch (error) {
    // An operator's to mend, on this worker or in the destination: the conversion is good.
    if (error instanceof SealError || error instanceof SettingsError)
      return { kind: 'retry', reason: error.message, afterMs: HOLD_MS, holds: true, unsent: true }
    throw error
  }
}

function report(log: Logger, { id, destination, attempts }: Claimed, verdict: Verdict, outcome: Settled): void {
  if (verdict.kind === 'sent') return
  const line = { delivery: id, destination: destination.id, attempts, reason: verdict.reason }
  if (outcome === 'dead') log.error(line, 'a delivery is given up')
  else log.warn(line, 'a delivery failed and is tried again later')
}
