/** What each provider of messages is to the rest: its settings, and a transport that sends. */
import type { TObject } from '@sinclair/typebox'
import type { Fault } from '../../rules/faults.ts'
import type { Blame } from '../../rules/messages/blame.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import type { TargetGuard } from '../../outbound/target-guard.ts'
import type { MessageChannel, RenderedMessage } from '../templates/template.ts'

export interface OutgoingMessage {
  /** A UUID, the same for each attempt. */
  messageId: string
  businessId: string
  channel: MessageChannel
  /** Null for a message to no contact. */
  contactId: string | null
  /** An address of the channel; null where it has none. */
  to: string | null
  message: RenderedMessage
  /** More headers of a mail. */
  headers?: Record<string, string>
}

/**
 * `refused`: for good. `temporary`: surely not taken, and may be sent again. `unknown`: handed over without an answer, and never
 * sent again. `reason`: the provider's own words, or ours; without line breaks and secrets, of at most `MAX_REASON` characters.
 */
export interface SendOutcome {
  kind: 'accepted' | 'refused' | 'temporary' | 'unknown'
  /** The provider's id of the message. */
  providerMessageId?: string
  reason?: string
  /** Of a refusal by the provider. Default: the sender. */
  blame?: Blame
}

export interface Transport {
  /** Never rejects. Ends soon after `signal` aborts. */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SendOutcome>
  /** Closes idle connections. No message may be in flight. */
  close(): void
}

export interface TransportDeps {
  sql: Sql
  guard: TargetGuard
  /** Where the provider reports, if it can reach us. */
  callbackUrl?: string
  /** Epoch ms. */
  now: () => number
}

/** An outbound address in the settings, and the field that has it. */
export interface Target {
  path: string
  url: URL
}

export interface ChannelSetup {
  settings: Record<string, unknown>
  /** Empty for a provider without secrets. */
  secret: Record<string, unknown>
}

export interface ProviderKeys {
  /** Stored with the settings, and shown. */
  settings: TObject
  make(): { settings: Record<string, unknown>; secrets: Record<string, unknown> }
}

export interface Provider {
  name: string
  channels: readonly MessageChannel[]
  /** Callers write and read these. Each field has a `rule`, which is a fault of no field yet, and a `description`. */
  settings: TObject
  /** Callers write these beside the settings; they are sealed, and never shown. */
  secrets: TObject
  /** Keys that are made when the provider is chosen, and stay until another one is. Callers write none of them. */
  keys?: ProviderKeys
  /** With what other settings determine: that is not stored. */
  complete(settings: Record<string, unknown>): Record<string, unknown>
  /** Rules for several fields at once. `names`: of the secrets that are given or stored. */
  check(settings: Record<string, unknown>, names: readonly string[]): Fault[]
  targets(settings: Record<string, unknown>): Target[]
  /** Who gets the secrets. Stored ones are not used for another. */
  recipientOf(settings: Record<string, unknown>): string
  /** The secrets to store in place of `former`, which were for the same recipient; undefined without any. */
  replaceSecrets(
    former: Record<string, unknown> | undefined,
    given: Record<string, unknown>,
    now: number,
  ): Record<string, unknown>
  open(setup: ChannelSetup, deps: TransportDeps): Transport
  /**
   * Of a provider whose messages stay in Postgres. They can be sent in any transaction that has locked their contacts: no death leaves
   * it unknown whether they were.
   */
  inPostgres?: {
    keep(tx: Queryable, messages: readonly OutgoingMessage[]): Promise<void>
    /** Deletes what is not kept any longer. */
    trim(sql: Sql, channel: Pick<OutgoingMessage, 'businessId' | 'channel'>): Promise<void>
  }
}
