/** Sends conversions to their destinations, as one user of the outbound queue. */
import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'
import { HOLD_MS } from '../outbound/classify-response.ts'
import { type OutboundQueue, type QueueOptions, runQueue } from '../outbound/run-queue.ts'
import type { Verdict } from '../outbound/verdict.ts'
import type { Sql } from '../stores/postgres.ts'
import { type Claimed, claimDeliveries } from './claim-deliveries.ts'
import { hasDestination } from './destinations.ts'
import { keepGoogleTokens } from './google-token.ts'
import { purgeDeliveries } from './purge-deliveries.ts'
import { SealError, openSecret } from './seal-secret.ts'
import { type SendDeps, sendConversion } from './send-conversion.ts'
import { type Settled, settleDelivery } from './settle-delivery.ts'
import { type Setup, SettingsError, readSetup } from './settings.ts'

export interface DeliveryDeps extends QueueOptions {
  sql: Sql
  log: Logger
  config: Pick<Config, 'secretsKey' | 'deliveryTries' | 'deliveriesKeepMs'>
  /** Counts attempts by their outcome. */
  metrics?: { deliveries: { inc(labels: { kind: string; outcome: Settled }): void } }
}

const PER_DESTINATION = 4

/** Sends what is due until `signal` aborts, then finishes what is in flight. */
export async function runDeliveries(deps: DeliveryDeps, signal: AbortSignal): Promise<void> {
  const { sql, log, config } = deps
  const sendDeps = { tokens: keepGoogleTokens(), now: Date.now }
  const queue: OutboundQueue<Claimed> = {
    itemName: 'delivery',
    isWanted: () => hasDestination(sql),
    claim: (limits) => claimDeliveries(sql, { ...limits, perDestination: PER_DESTINATION }),
    attempt: (claimed, timeout) => send(deps, sendDeps, claimed, timeout),
    purge: () => purgeDeliveries(sql, config.deliveriesKeepMs),
    async settle(claimed, verdict) {
      const outcome = await settleDelivery(sql, claimed, verdict, { tries: config.deliveryTries })
      if (outcome === undefined) return
      deps.metrics?.deliveries.inc({ kind: claimed.destination.kind, outcome })
      report(log, claimed, verdict, outcome)
    },
  }
  await runQueue(queue, log, deps, signal)
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
    // An operator has to mend it, on this worker or in the destination: the conversion is good.
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
