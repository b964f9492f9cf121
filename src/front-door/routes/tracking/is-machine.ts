import { isbot } from 'isbot'

/** Headers with which browsers and mail programs announce that they load something in advance. */
const PURPOSES = ['purpose', 'sec-purpose', 'x-purpose', 'x-moz']

/**
 * User agents that load images and links whether or not a person reads the mail: filters, Apple's proxy, which has only
 * `Mozilla/5.0`, and Gmail before it shows a mail.
 */
const AHEAD = /Mimecast|Proofpoint|Barracuda|^Mozilla\/5\.0$| Edge\/12\.246 Mozilla\/5\.0$/i

/**
 * User agents that load the images of a mail when a person opens it, although they look like programs: the proxies of
 * Gmail and Yahoo, and Outlook on phones.
 */
const OPENERS = /GoogleImageProxy|YahooMailProxy|^Outlook-(Android|iOS)\//i

/**
 * Returns whether a request for a tracked address comes from a program and not from a person, as far as its headers
 * show. `visited`: what the address is.
 */
export function isMachine(headers: Headers, visited: 'link' | 'image'): boolean {
  const agent = headers.get('user-agent')?.trim() ?? ''
  const isAhead = PURPOSES.some((name) => /prefetch|prerender|preview/i.test(headers.get(name) ?? ''))
  if (isAhead || agent === '' || AHEAD.test(agent)) return true
  return OPENERS.test(agent) ? visited === 'link' : isbot(agent)
}
