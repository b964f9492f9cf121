/** Takes what a provider reports. */
import type { Logger } from '../../log.ts'
import type { Sql } from '../../stores/postgres.ts'
import { loadChannel, openSetup } from '../channels/channels.ts'
import type { ChannelSetup } from '../channels/provider.ts'
import { applyReport } from './apply-report.ts'
import { applyWord } from './apply-word.ts'
import type { Callback, CallbackDeps, ProviderCallbacks } from './callbacks.ts'
import { callbacksOf } from './callbacks-of.ts'
import type { CallbackPlace } from './token.ts'

export interface ReceiveDeps extends CallbackDeps {
  sql: Sql
  log: Logger
  secretsKey: string | undefined
}

/** `forged`: it is not from the provider, or the channel has another provider now. */
export type CallbackOutcome = { kind: 'taken'; answer: ProviderCallbacks['answer'] } | { kind: 'forged' }

/** What it says is committed before this resolves. Throws SealError when the secrets of the channel cannot be opened. */
export async function receiveCallback(
  deps: ReceiveDeps,
  place: CallbackPlace,
  callback: Callback,
): Promise<CallbackOutcome> {
  const opened = await openCallbacks(deps, place)
  if (opened === null) return { kind: 'forged' }
  const { callbacks, setup } = opened
  if (!(await callbacks.verify(callback, setup, deps))) return { kind: 'forged' }
  for (const fact of callbacks.read(callback, setup)) {
    if (fact.kind === 'confirm') await deps.fetchText(fact.url)
    else if (fact.kind === 'word') await applyWord(deps.sql, place, fact, callback.receivedAt)
    else await applyReport(deps, place, fact, callback.receivedAt)
  }
  return { kind: 'taken', answer: callbacks.answer }
}

/** What the provider wants to hear when it is given the address; null when it has not shown that it is the provider. */
export async function shakeHands(
  deps: Omit<ReceiveDeps, 'fetchText' | 'log'>,
  place: CallbackPlace,
  query: URLSearchParams,
): Promise<string | null> {
  const opened = await openCallbacks(deps, place)
  return opened?.callbacks.handshake?.(query, opened.setup) ?? null
}

async function openCallbacks(
  { sql, secretsKey }: Omit<ReceiveDeps, 'fetchText' | 'log'>,
  place: CallbackPlace,
): Promise<{ callbacks: ProviderCallbacks; setup: ChannelSetup } | null> {
  const callbacks = callbacksOf(place.provider)
  const stored = await loadChannel(sql, place)
  if (callbacks === undefined || stored.provider !== place.provider) return null
  return { callbacks, setup: openSetup(place, stored, secretsKey) }
}
