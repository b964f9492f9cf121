/** What the callbacks of a provider are to the rest: who has sent one, and what it says. */
import type { MessageReport } from '../../rules/messages/message-reports.ts'
import type { StopWord } from '../../rules/messages/stop-words.ts'
import type { ChannelSetup } from '../channels/provider.ts'

export interface Callback {
  /** As the provider has it, with the query. */
  url: string
  headers: Headers
  /** As it came: signatures are of its bytes. */
  body: Buffer
  /** Epoch ms. */
  receivedAt: number
}

export type CallbackFact =
  | {
      kind: 'report'
      report: MessageReport
      /** Ours, if the provider brings it along. */
      messageId: string | null
      providerMessageId: string | null
      /** Where the message went, if the provider says so. */
      address: string | null
      /** In the provider's own words. */
      detail: string | null
    }
  /** A person has written this. `replyId`: the provider's, the same in each repeat. */
  | { kind: 'word'; word: StopWord; address: string; replyId: string; at: number }
  /** The provider asks to open an address. */
  | { kind: 'confirm'; url: string }

export interface CallbackDeps {
  /** The text at an address. */
  fetchText: (url: string) => Promise<string>
}

export interface ProviderCallbacks {
  /** False for one that is not from the provider, or cannot be checked since a secret is missing. */
  verify(callback: Callback, setup: ChannelSetup, deps: CallbackDeps): boolean | Promise<boolean>
  /**
   * What the provider sends by, of a callback that was verified: the first one stays, and another one is refused. Null: it does not say.
   * Left out: the secrets show who it is.
   */
  sourceOf?(callback: Callback): string | null
  /** Of one that was verified. What it does not know, it leaves out. */
  read(callback: Callback, setup: ChannelSetup): CallbackFact[]
  /** The answer that the provider expects when it is given the address; null when it does not know the word. */
  handshake?(query: URLSearchParams, setup: ChannelSetup): string | null
  /** The body of the answer. Default: none. */
  answer?: { type: string; body: string }
}
