/** Selects the items of one request. */
import type { Pending } from './open-outbox.ts'

export const MAX_HITS = 50
/** Limit in characters of JSON. Even with three bytes per character and both touches, a request stays within 64 KiB. */
export const MAX_LENGTH = 8_000

/**
 * Returns the oldest item. If it is a capture, also returns the captures that follow. Empty when there are no items.
 */
export function pickBatch(pending: Pending[]): Pending[] {
  const [oldest] = pending
  if (oldest?.route !== 'capture') return pending.slice(0, 1)
  let length = 0
  const hits = pending.filter(({ route }) => route === 'capture').slice(0, MAX_HITS)
  return hits.filter(({ body }, index) => (length += JSON.stringify(body).length) <= MAX_LENGTH || index === 0)
}
