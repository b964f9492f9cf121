/** Links in messages. They begin with PUBLIC_URL, never with a header of a request. */
import type { Config } from '../config.ts'
import type { MessageKey } from './message-key.ts'
import { type Subscriber, writeToken } from './unsubscribe/token.ts'

/** The token in previews, simulations, tests and stored renderings: its page does nothing. */
export const INERT_TOKEN = 'preview'

/** Without a trailing slash. Without PUBLIC_URL, only this machine can follow the links. */
export function publicAddress({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string {
  return (publicUrl ?? `http://127.0.0.1:${port}`).replace(/\/+$/, '')
}

interface UnsubscribeLinks {
  unsubscribeUrl: string
  preferencesUrl: string
}

/** For a message to a contact. `address` is `publicAddress`. */
export const linksOf = (address: string, key: MessageKey, subscriber: Subscriber): UnsubscribeLinks =>
  makeLinks(address, writeToken(key, subscriber))

/** For previews, simulations, tests and stored renderings. */
export const inertLinks = (config: Pick<Config, 'publicUrl' | 'port'>): UnsubscribeLinks =>
  makeLinks(publicAddress(config), INERT_TOKEN)

function makeLinks(address: string, token: string): UnsubscribeLinks {
  const page = `${address}/u/${token}`
  return { unsubscribeUrl: page, preferencesUrl: `${page}#preferences` }
}

/**
 * Headers with which mail programs show their own unsubscribe button (RFC 2369, RFC 8058). One click needs HTTPS;
 * without it, the button opens the page.
 */
export function unsubscribeHeaders({ unsubscribeUrl }: UnsubscribeLinks): Record<string, string> {
  const header = { 'List-Unsubscribe': `<${unsubscribeUrl}>` }
  if (!unsubscribeUrl.startsWith('https:')) return header
  return { ...header, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}
