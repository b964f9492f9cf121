/** Links in messages. They begin with PUBLIC_URL, never with a header of a request. */
import type { Config } from '../config.ts'

/** In previews, simulations, tests and kept renderings: its page acts on nothing. */
export const INERT_TOKEN = 'preview'

/** Without a slash at its end. Without PUBLIC_URL, this machine alone can follow the links. */
export function publicAddress({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string {
  return (publicUrl ?? `http://127.0.0.1:${port}`).replace(/\/+$/, '')
}

export function unsubscribeLinks(address: string, token: string): { unsubscribeUrl: string; preferencesUrl: string } {
  const page = `${address}/u/${token}`
  return { unsubscribeUrl: page, preferencesUrl: `${page}#preferences` }
}
