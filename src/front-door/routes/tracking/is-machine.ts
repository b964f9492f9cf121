import { isbot } from 'isbot'

/** Headers by which browsers and mail programs say that they load something in advance. */
const PURPOSES = ['purpose', 'sec-purpose', 'x-purpose', 'x-moz']

/** What mail providers load images and links through, whether or not a person reads the mail. */
const PROXIES =
  /GoogleImageProxy|YahooMailProxy|Mimecast|Proofpoint|Barracuda|^Mozilla\/5\.0$| Edge\/12\.246 Mozilla\/5\.0$/i

/** Whether a request for a tracked address comes from a program rather than from a person, as far as its headers show. */
export function isMachine(headers: Headers): boolean {
  const agent = headers.get('user-agent')?.trim() ?? ''
  const isAhead = PURPOSES.some((name) => /prefetch|prerender|preview/i.test(headers.get(name) ?? ''))
  return isAhead || agent === '' || isbot(agent) || PROXIES.test(agent)
}
