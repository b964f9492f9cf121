/** Asks the segment worker to read the counts and sums of a contact from the timeline. */
export interface WindowRefresh {
  businessId: string
  contactId: string
  /** The earliest receipt of what the timeline has not been read for (epoch ms). */
  receivedAt: number
  /** What changed other than by an event received since then; null: nothing. */
  cause: BaseCause | null
  /** The contact was created by the item that records the event: rules on windows know nothing of it yet. */
  isNew: boolean
}

/** One row of such a request, which a save answers. */
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

/** The alphabet has them in their order, for the SQL that does the same. */
const laterCause = (a: BaseCause | null, b: BaseCause | null): BaseCause | null =>
  a === null || (b !== null && b > a) ? b : a
