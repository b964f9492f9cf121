/** How large a push message may be. Browsers take 3,993 bytes (RFC 8291): the rest is for what Sluice adds. */
import { type Fault, faultOf } from '../faults.ts'

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
export function pushFault(parts: PushParts): Fault | null {
  const bytes = pushBytes(parts)
  return bytes > MAX_PUSH_BYTES ? faultOf('', 'push_size', { bytes, max: MAX_PUSH_BYTES }) : null
}
