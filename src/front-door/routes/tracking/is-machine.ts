import { isbot } from 'isbot'

/** Headers with which browsers and mail programs announce that they load something in advance. */
const PURPOSES = ['purpose', 'sec-purpose', 'x-purpose', 'x-moz']

/** User agents through which mail providers load images and links, whether or not a person reads the mail. */
const PROXIES =
  /GoogleImageProxy|YahooMailProxy|Mimecast|Proofpoint|Barracuda|^Mozilla\/5\.0$| Edge\/12\.246 Mozilla\/5\.0$/i

/**
 * Returns whether a request for a tracked address comes from a program and not from a person, as far as its headers
 * show.
 */
export function isMachine(headers: Headers): boolean {
  const agent = headers.get('user-agent')?.trim() ?? ''
  const isAhead = PURPOSES.some((name) => /prefetch|prerender|preview/i.test(headers.get(name) ?? ''))
  return isAhead || agent === '' || isbot(agent) || PROXIES.test(agent)
}
