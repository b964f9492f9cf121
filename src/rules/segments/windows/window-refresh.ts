/** A request to the segment worker to read the counts and sums of a contact from the timeline. */
export interface WindowRefresh {
  businessId: string
  contactId: string
  /** The earliest receipt of events that the timeline has not been read for (epoch ms). */
  receivedAt: number
  /** The cause of changes other than events received since then; null when there are none. */
  cause: BaseCause | null
  /** True when the item that records the event created the contact: rules on windows have no data for it yet. */
  isNew: boolean
}

/** One row of such a request that a save completes. */
export interface DoneRefresh {
  businessId: string
  contactId: string
  outboxId: number
}

/** In ascending order of precedence. */
export type BaseCause = 'bulk' | 'live' | 'merge'

export function uniteRefreshes(a: WindowRefresh, b: WindowRefresh): WindowRefresh {
  return {
    ...a,
    receivedAt: Math.min(a.receivedAt, b.receivedAt),
    cause: laterCause(a.cause, b.cause),
    isNew: a.isNew || b.isNew,
  }
}

/**
 * Returns the cause that takes precedence. The causes are in alphabetical order, so that `max` in SQL returns the same
 * one.
 */
const laterCause = (a: BaseCause | null, b: BaseCause | null): BaseCause | null =>
  a === null || (b !== null && b > a) ? b : a
