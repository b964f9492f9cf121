/** Interface to a provider of messages: its settings, and a transport that sends. */
import type { TObject } from '@sinclair/typebox'
import type { Fault } from '../../rules/faults.ts'
import type { Blame } from '../../rules/messages/blame.ts'
import type { Sql } from '../../stores/postgres.ts'
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
  /** Additional headers of a mail. */
  headers?: Record<string, string>
  /** A mailbox, in place of that of the settings. */
  replyTo?: string
  attachments?: readonly MailFile[]
}

export interface MailFile {
  filename: string
  contentType: string
  content: Buffer
  /** Of an image that the HTML shows by `cid:`. Null: none. */
  contentId: string | null
}

/**
 * `refused`: permanently. `temporary`: certainly not accepted, so it may be sent again. `unknown`: handed over without
 * an answer, so it is never sent again. `reason`: the provider's own words, or ours, without line breaks and secrets,
 * at most `MAX_REASON` characters.
 */
export interface SendOutcome {
  kind: 'accepted' | 'refused' | 'temporary' | 'unknown'
  /** The provider's id of the message. */
  providerMessageId?: string
  /** The provider's id of the recipient. It may be another text than the address. */
  recipientId?: string
  reason?: string
  /** Who is to blame for a refusal by the provider. Default: the sender. */
  blame?: Blame
  /**
   * Of a temporary one. `untried`: nobody tried to connect. `none`: no connection came about. `written`: the provider may
   * have the message.
   */
  contact?: 'untried' | 'none' | 'written'
}

export interface Transport {
  /** Never rejects. Ends soon after `signal` aborts. */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SendOutcome>
  /** Closes idle connections. Call it when no message is in flight. */
  close(): void
}

export interface TransportDeps {
  sql: Sql
  guard: TargetGuard
  /** URL for the provider's reports, if it can reach us. */
  callbackUrl?: string
  /** Epoch milliseconds. */
  now: () => number
}

/** A target address in the settings, and its field. */
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
  /** Callers write and read these. Each field has a `rule`, which is a fault without a field, and a `description`. */
  settings: TObject
  /** Callers write these beside the settings. They are encrypted, and never shown. */
  secrets: TObject
  /**
   * Keys that are generated when the provider is chosen, and stay until another one is chosen. Callers do not write
   * them.
   */
  keys?: ProviderKeys
  /** Adds values that follow from other settings and are not stored. */
  complete(settings: Record<string, unknown>): Record<string, unknown>
  /** Rules for several fields at once. `names`: names of the secrets that are given or stored. */
  check(settings: Record<string, unknown>, names: readonly string[]): Fault[]
  targets(settings: Record<string, unknown>): Target[]
  /** The recipient of the secrets. Stored secrets are not used for another recipient. */
  recipientOf(settings: Record<string, unknown>): string
  /** Returns the secrets to store in place of `former`, which were for the same recipient; undefined without any. */
  replaceSecrets(
    former: Record<string, unknown> | undefined,
    given: Record<string, unknown>,
    now: number,
  ): Record<string, unknown>
  open(setup: ChannelSetup, deps: TransportDeps): Transport
}
