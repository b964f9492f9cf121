/**
 * The size limit of a push message. Browsers accept 3,993 bytes (RFC 8291); the rest is for the fields that Sluice
 * adds.
 */

export interface PushParts {
  title?: string
  body?: string
  url?: string
}

export const MAX_PUSH_BYTES = 3000

/** Returns the bytes of the parts as JSON. */
export const pushBytes = ({ title = '', body = '', url = '' }: PushParts): number =>
  new TextEncoder().encode(JSON.stringify([title, body, url])).length

/** Returns the reason why the message cannot be sent; null when it can. */
export function pushFault(parts: PushParts): string | null {
  const bytes = pushBytes(parts)
  const allowed = MAX_PUSH_BYTES.toLocaleString('en-US')
  return bytes > MAX_PUSH_BYTES
    ? `title, body and url have ${bytes.toLocaleString('en-US')} bytes together: a push message has at most ${allowed}`
    : null
}
