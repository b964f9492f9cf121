/** Transports of the recently used senders, with their open connections. */
import { type SenderKey, type StoredChannel, connectionOf, loadSender } from '../../../messages/channels/channels.ts'
import { fromOf } from '../../../messages/channels/sender-address.ts'
import { openSetup } from '../../../messages/channels/sender-secrets.ts'
import type { OutgoingMessage, SendOutcome, Transport, TransportDeps } from '../../../messages/channels/provider.ts'
import { requireProvider } from '../../../messages/channels/providers.ts'
import { reachableUrl } from '../../../messages/callbacks/reachable-url.ts'
import type { Config } from '../../../config.ts'
import { type MessageKey, loadMessageKey } from '../../../messages/message-key.ts'

export interface Sent {
  provider: string | null
  /** The address that it was sent from. */
  from: string | null
  outcome: SendOutcome
}

export interface ClaimedSender extends SenderKey {
  /** When the message was claimed, by `performance.now()`. */
  since: number
}

export interface Transports {
  /** Throws SealError when the secrets of the sender cannot be decrypted. */
  send(key: ClaimedSender, message: OutgoingMessage, signal: AbortSignal): Promise<Sent>
  /** Closes transports that were not used lately. */
  closeIdle(): void
  /** Call it when no message is in flight. */
  close(): void
}

interface Opened {
  revision: string
  provider: string
  from: string | null
  transport: Transport
  inFlight: number
  usedAt: number
}

const IDLE_MS = 60_000
/** Milliseconds for which the messages that were claimed before it share a read of their sender. */
const SHARED_MS = 1000

interface TransportsDeps extends Omit<TransportDeps, 'callbackUrl'> {
  config: Pick<Config, 'publicUrl' | 'port' | 'secretsKey'>
}

export function createTransports(deps: TransportsDeps): Transports {
  const opened = new Map<string, Opened>()
  const reads = new Map<string, { at: number; answer: Promise<StoredChannel | null> }>()
  /** Transports that were replaced while messages were in flight. */
  const retired = new Set<Opened>()

  const retire = (name: string, one: Opened): void => {
    opened.delete(name)
    if (one.inFlight === 0) one.transport.close()
    else retired.add(one)
  }
  const open = (key: SenderKey, stored: StoredChannel, messageKey: MessageKey): Opened => {
    const name = nameOf(key)
    const known = opened.get(name)
    const revision = `${stored.revision} ${stored.viaRevision}`
    if (known?.revision === revision && known.provider === stored.provider) return known
    if (known) retire(name, known)
    const provider = requireProvider(stored.provider)
    const connection = connectionOf(key.businessId, stored)
    const url = reachableUrl(deps.config, messageKey, { ...connection, provider: provider.name })
    const setup = openSetup(connection, stored, deps.config.secretsKey)
    const transport = provider.open(setup, { ...deps, ...(url !== null && { callbackUrl: url }) })
    const one = {
      revision,
      provider: provider.name,
      from: fromOf(stored),
      transport,
      inFlight: 0,
      usedAt: performance.now(),
    }
    opened.set(name, one)
    return one
  }

  /**
   * Reads the sender as it was after the message was claimed, so that it has every change that was answered before. A
   * newer read serves older claims, too. When a shared read fails, each message reads by itself.
   */
  const read = ({ since, ...key }: ClaimedSender): Promise<StoredChannel | null> => {
    const name = nameOf(key)
    const now = performance.now()
    let shared = reads.get(name)
    if (!shared || shared.at < since || now - shared.at >= SHARED_MS) {
      shared = { at: now, answer: loadSender(deps.sql, key) }
      reads.set(name, shared)
    }
    return shared.answer.catch(() => loadSender(deps.sql, key))
  }

  return {
    async send(key, message, signal) {
      const messageKey = await loadMessageKey(deps.sql)
      const stored = await read(key)
      if (stored === null) return { provider: null, from: null, outcome: GONE }
      const one = open(key, stored, messageKey)
      one.inFlight += 1
      try {
        return { provider: one.provider, from: one.from, outcome: await one.transport.send(message, signal) }
      } finally {
        one.inFlight -= 1
        one.usedAt = performance.now()
        if (one.inFlight === 0 && retired.delete(one)) one.transport.close()
      }
    },
    closeIdle() {
      for (const [name, { at }] of reads) if (performance.now() - at > SHARED_MS) reads.delete(name)
      for (const [name, one] of opened)
        if (one.inFlight === 0 && performance.now() - one.usedAt > IDLE_MS) retire(name, one)
    },
    close() {
      for (const [name, one] of opened) retire(name, one)
    },
  }
}

/** The next claim finds another one. */
const GONE: SendOutcome = { kind: 'temporary', reason: 'the sender was deleted' }

const nameOf = ({ businessId, channel, sender }: SenderKey): string => `${businessId} ${channel} ${sender}`
