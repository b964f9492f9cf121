import type { StoredConsent } from '../contact-parts.ts'
import type { Item, SubscribeRequest } from '../item.ts'

/** Returns whether the existing choice of a channel or a topic stays, whatever else the request asks for. */
export function staysAsItIs(
  { at, isReplay, receivedAt, changesOnly }: Item<SubscribeRequest>,
  subscribed: boolean,
  existing: StoredConsent | undefined,
): boolean {
  if (existing === undefined) return false
  if (at !== undefined) return !isLater(at, subscribed, existing)
  // The order of the stream decides which choice is the last, not a clock. Only a replayed item has to check for a later
  // choice.
  if (isReplay && existing.at > receivedAt) return true
  return changesOnly === true && existing.subscribed === subscribed
}

/** If two choices have the same time, the opt-out counts. */
const isLater = (at: number, subscribed: boolean, existing: StoredConsent): boolean =>
  at > existing.at || (at === existing.at && existing.subscribed && !subscribed)
