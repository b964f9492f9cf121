/**
 * Replaces links in the HTML of a mail that is about to be sent with tracked URLs. Stored and previewed mails have the
 * links of the template.
 */
import type { Tracking } from '../../rules/campaigns/definition.ts'
import type { MessageKey } from '../message-key.ts'
import type { RenderedMessage } from '../templates/template.ts'
import { readTarget } from './read-target.ts'
import { type FoundLink, scanHtml } from './scan-html.ts'
import { type TrackedMessage, writeLinkToken, writeOpenToken } from './token.ts'

/** Links per mail; later ones stay unchanged. */
export const MAX_LINKS = 1000

export interface MailTracking {
  tracking: Tracking
  /** `publicAddress`. */
  address: string
  key: MessageKey
  message: TrackedMessage
  /** Only links to these are tracked: see `fixedHosts`. */
  hosts: ReadonlySet<string>
}

export function trackMail(rendered: RenderedMessage, tracked: MailTracking): RenderedMessage {
  const { html } = rendered
  const { opens, clicks } = tracked.tracking
  if (html === undefined || (!opens && !clicks)) return rendered
  const { links, bodyEnd } = scanHtml(html)
  const edits = clicks ? links.slice(0, MAX_LINKS).flatMap((link) => trackLink(link, tracked) ?? []) : []
  if (opens) {
    const end = bodyEnd ?? html.length
    edits.push({ start: end, end, text: imageOf(tracked) })
  }
  return { ...rendered, html: applyEdits(html, edits) }
}

interface Edit {
  start: number
  end: number
  text: string
}

/** Null for a link that stays unchanged. */
function trackLink({ start, end, raw }: FoundLink, { address, key, message, hosts }: MailTracking): Edit | null {
  const target = readTarget(raw)
  // A person who unsubscribes must reach the page, even if tracking fails.
  if (target === null || target.startsWith(new URL(`${address}/u/`).href)) return null
  if (!hosts.has(new URL(target).host)) return null
  return { start, end, text: `"${address}/c/${writeLinkToken(key, { ...message, target })}"` }
}

const imageOf = ({ address, key, message }: MailTracking): string =>
  `<img src="${address}/o/${writeOpenToken(key, message)}" width="1" height="1" alt="" style="border:0">`

/** They do not overlap. */
function applyEdits(html: string, edits: readonly Edit[]): string {
  const parts: string[] = []
  let done = 0
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start)) {
    parts.push(html.slice(done, start), text)
    done = end
  }
  return parts.join('') + html.slice(done)
}
