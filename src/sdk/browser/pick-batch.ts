/** What goes into one request. */
import type { Pending } from './open-outbox.ts'

export const MAX_HITS = 50
/** Characters of JSON. Even of three bytes each, with both touches, they fit the limit of 64 KiB. */
export const MAX_LENGTH = 8_000

/** The oldest, and when it was captured, the next captured ones with it. Empty when there is nothing. */
export function pickBatch(pending: Pending[]): Pending[] {
  const [oldest] = pending
  if (oldest?.route !== 'capture') return pending.slice(0, 1)
  let length = 0
  const hits = pending.filter(({ route }) => route === 'capture').slice(0, MAX_HITS)
  return hits.filter(({ body }, index) => (length += JSON.stringify(body).length) <= MAX_LENGTH || index === 0)
}
