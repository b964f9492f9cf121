/** Receives the reports of providers. */
import type { Logger } from '../../log.ts'
import type { Sql } from '../../stores/postgres.ts'
import { afterCommit } from '../../stores/transaction.ts'
import { type FormerChannel, loadSender } from '../channels/channels.ts'
import type { ChannelSetup } from '../channels/provider.ts'
import { openSetup } from '../channels/sender-secrets.ts'
import { applyFacts } from './apply-facts.ts'
import { type OptOut, findOptedOut } from './find-opted-out.ts'
import { FORMER_MS } from './former-provider.ts'
import type { Callback, CallbackDeps, ProviderCallbacks } from './callbacks.ts'
import { callbacksOf } from './callbacks-of.ts'
import type { CallbackPlace } from './token.ts'

export interface ReceiveDeps extends CallbackDeps {
  sql: Sql
  log: Logger
  secretsKey: string | undefined
}

/** Reports and replies per callback: more than the 1,000 that Meta puts together, and any other provider sends one. */
export const MAX_FACTS = 2000

/**
 * `taken`: its reports are recorded, and the caller records `optOuts`. `forged`: it is not from a provider that the
 * sender has, or had recently. `too_many`: it has more than `MAX_FACTS`, and nothing was recorded.
 */
export type CallbackOutcome =
  | { kind: 'taken'; answer: ProviderCallbacks['answer']; optOuts: OptOut[] }
  | { kind: 'forged' }
  | { kind: 'too_many' }

/**
 * Its reports are committed before this resolves. Throws SealError when the secrets of the sender cannot be decrypted.
 */
export async function receiveCallback(
  deps: ReceiveDeps,
  place: CallbackPlace,
  callback: Callback,
): Promise<CallbackOutcome> {
  const callbacks = callbacksOf(place.provider)
  if (callbacks === undefined) return { kind: 'forged' }
  const from = await findSender(deps, place, callbacks, callback)
  if (from === null) return { kind: 'forged' }
  const facts = callbacks.read(callback, from.setup)
  if (facts.length > MAX_FACTS) return { kind: 'too_many' }
  for (const fact of facts) if (fact.kind === 'confirm') await deps.fetchText(fact.url)
  if (!(await pinSource(deps.sql, place, from))) return { kind: 'forged' }
  const { receivedAt } = callback
  const applied = facts.filter((fact) => fact.kind === 'report' || fact.kind === 'word')
  const optOuts: OptOut[] = []
  await afterCommit(async () => {
    await applyFacts(deps, place, applied, { receivedAt, isCurrent: from.isCurrent })
    for (const fact of facts) {
      const optOut = fact.kind === 'opt_out' ? await findOptedOut(deps.sql, place, fact, receivedAt) : null
      if (optOut !== null) optOuts.push(optOut)
    }
  })
  return { kind: 'taken', answer: callbacks.answer, optOuts }
}

/** Returns the answer that the provider expects when it is given the URL; null when it has not proved its identity. */
export async function shakeHands(
  { sql, secretsKey }: Omit<ReceiveDeps, 'fetchText' | 'log'>,
  place: CallbackPlace,
  query: URLSearchParams,
): Promise<string | null> {
  const stored = await loadSender(sql, place)
  if (stored?.provider !== place.provider) return null
  return callbacksOf(place.provider)?.handshake?.(query, openSetup(place, stored, secretsKey)) ?? null
}

interface Sender {
  setup: ChannelSetup
  /** Returns false when the sender has another provider now. */
  isCurrent: boolean
  /** The sender's identifier, if it has to be pinned. */
  source: string | null
}

/** Returns the account that a callback is from: the sender's, or the previous one. Null: neither. */
async function findSender(
  deps: ReceiveDeps,
  place: CallbackPlace,
  callbacks: ProviderCallbacks,
  callback: Callback,
): Promise<Sender | null> {
  const stored = await loadSender(deps.sql, place, callback.receivedAt - FORMER_MS)
  if (stored === null) return null
  const { former } = stored
  const accounts = [stored, ...(former !== null && callback.receivedAt < former.until ? [former] : [])]
  const source = callbacks.sourceOf?.(callback)
  if (source === null) return null
  // An account with a pinned identifier is tried first: reports of the previous account must not be pinned to the
  // present one.
  const isKnown = (account: Account) => source === undefined || account.callbackSource === source
  const isOpen = (account: Account) => account === stored && account.callbackSource === null
  for (const account of [...accounts.filter(isKnown), ...accounts.filter((one) => !isKnown(one) && isOpen(one))]) {
    if (account.provider !== place.provider) continue
    const setup = openSetup(place, account, deps.secretsKey)
    if (!(await callbacks.verify(callback, setup, deps))) continue
    return { setup, isCurrent: account === stored, source: isKnown(account) ? null : (source ?? null) }
  }
  return null
}

type Account = Pick<FormerChannel, 'provider' | 'settings' | 'callbackSource'> & { secret: string | null }

/** Returns false when another identifier was pinned meanwhile. */
async function pinSource(
  sql: Sql,
  { businessId, channel, sender, provider }: CallbackPlace,
  { source }: Sender,
): Promise<boolean> {
  if (source === null) return true
  const { count } = await sql`
    update senders set callback_source = ${source}
    where business_id = ${businessId} and channel = ${channel} and key = ${sender} and provider = ${provider}
      and (callback_source is null or callback_source = ${source})`
  return count === 1
}
