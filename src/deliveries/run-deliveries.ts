/** Sends conversions to their destinations through the outbound queue. */
import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'
import { DEFAULT_RETRY_AFTER_MS } from '../outbound/classify-response.ts'
import { type OutboundQueue, type QueueOptions, runQueue } from './run-queue.ts'
import type { SendResult } from '../outbound/send-result.ts'
import type { TargetGuard } from '../outbound/target-guard.ts'
import type { Sql } from '../stores/postgres.ts'
import { type ClaimedDelivery, claimDeliveries } from './claim-deliveries.ts'
import { cacheGoogleTokens } from './google-token.ts'
import { purgeDeliveries } from './purge-deliveries.ts'
import { SealError, openSecret } from '../stores/seal-secret.ts'
import { type SendDeps, sendConversion } from './send-conversion.ts'
import { type DeliveryOutcome, recordDelivery } from './record-delivery.ts'
import { type DestinationSetup, SettingsError, readSetup } from './settings.ts'

export interface DeliveryDeps extends QueueOptions {
  sql: Sql
  log: Logger
  guard: TargetGuard
  config: Pick<Config, 'secretsKey' | 'deliveryTries' | 'deliveriesKeepMs'>
  /** Counts attempts by their outcome. */
  metrics?: { deliveries: { inc(labels: { kind: string; outcome: DeliveryOutcome }): void } }
}

const PER_DESTINATION = 4

/** Sends due deliveries until `signal` aborts, then finishes those in flight. */
export async function runDeliveries(deps: DeliveryDeps, signal: AbortSignal): Promise<void> {
  const { sql, log, config, guard } = deps
  const sendDeps = { guard, tokens: cacheGoogleTokens(guard), now: Date.now }
  const queue: OutboundQueue<ClaimedDelivery> = {
    itemName: 'delivery',
    claim: (limits) => claimDeliveries(sql, { ...limits, perDestination: PER_DESTINATION }),
    attempt: (claimed, timeout) => send(deps, sendDeps, claimed, timeout),
    purge: () => purgeDeliveries(sql, config.deliveriesKeepMs),
    async record(claimed, result) {
      const outcome = await recordDelivery(sql, claimed, result, { tries: config.deliveryTries })
      if (outcome === undefined) return
      deps.metrics?.deliveries.inc({ kind: claimed.destination.kind, outcome })
      report(log, claimed, result, outcome)
    },
  }
  await runQueue(queue, log, deps, signal)
}

async function send(
  { config }: DeliveryDeps,
  sendDeps: SendDeps,
  { destination, conversion }: ClaimedDelivery,
  signal: AbortSignal,
): Promise<SendResult> {
  try {
    const { id, kind, settings, secret } = destination
    const setup: DestinationSetup = readSetup(kind, settings, openSecret(secret, id, config.secretsKey))
    return await sendConversion(sendDeps, { setup, conversion, isTest: false }, signal)
  } catch (error) {
    // The conversion is valid. An operator must correct the configuration of this worker, or the destination.
    if (error instanceof SealError || error instanceof SettingsError)
      return {
        kind: 'retry',
        reason: error.message,
        afterMs: DEFAULT_RETRY_AFTER_MS,
        holdsDestination: true,
        unsent: true,
      }
    throw error
  }
}

function report(
  log: Logger,
  { id, destination, attempts }: ClaimedDelivery,
  result: SendResult,
  outcome: DeliveryOutcome,
): void {
  if (result.kind === 'sent') return
  const line = { delivery: id, destination: destination.id, attempts, reason: result.reason }
  if (outcome === 'dead') log.error(line, 'a delivery failed and was given up')
  else log.warn(line, 'a delivery failed and will be retried')
}
