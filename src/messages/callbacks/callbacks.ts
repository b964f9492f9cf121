/** Interface to the callbacks of a provider: who has sent one, and what it reports. */
import type { MessageReport } from '../../rules/messages/message-reports.ts'
import type { StopWord } from '../../rules/messages/stop-words.ts'
import type { ChannelSetup } from '../channels/provider.ts'

export interface Callback {
  /** The URL as the provider has it, with the query string. */
  url: string
  headers: Headers
  /** The body as it arrived, because signatures cover its bytes. */
  body: Buffer
  /** Epoch milliseconds. */
  receivedAt: number
}

export interface ReportFact {
  kind: 'report'
  report: MessageReport
  /** Our id, if the provider returns it. */
  messageId: string | null
  providerMessageId: string | null
  /** The recipient, if the provider reports it. */
  address: string | null
  /** The provider's own words. */
  detail: string | null
}

/** A reply of a person. `replyId`: the provider's, the same in each repeat. */
export interface WordFact {
  kind: 'word'
  word: StopWord
  address: string
  replyId: string
  at: number
}

/** The person has ended the messages of the channel, at the provider. */
export interface OptOutFact extends Pick<ReportFact, 'messageId' | 'providerMessageId' | 'address'> {
  kind: 'opt_out'
  /** How it was made, for the history of consent. */
  method: string
  at: number
}

/** The provider asks for a URL to be opened. */
interface ConfirmFact {
  kind: 'confirm'
  url: string
}

export type CallbackFact = ReportFact | WordFact | OptOutFact | ConfirmFact

export interface CallbackDeps {
  /** Returns the text at a URL. */
  fetchText: (url: string) => Promise<string>
}

export interface ProviderCallbacks {
  /** Returns false when the callback is not from the provider, or cannot be checked because a secret is missing. */
  verify(callback: Callback, setup: ChannelSetup, deps: CallbackDeps): boolean | Promise<boolean>
  /**
   * Returns the sender's identifier in a verified callback: the first one is pinned, and another one is refused. Null:
   * it has none. Absent: the secrets identify the sender.
   */
  sourceOf?(callback: Callback): string | null
  /** Reads a verified callback. Unknown parts are ignored. */
  read(callback: Callback, setup: ChannelSetup): CallbackFact[]
  /**
   * Returns the answer that the provider expects when it is given the URL; null when it does not know the verify token.
   */
  handshake?(query: URLSearchParams, setup: ChannelSetup): string | null
  /** The body of the answer. Default: none. */
  answer?: { type: string; body: string }
}
