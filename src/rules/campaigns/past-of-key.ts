/** What is remembered of a campaign and a key of a contact. */
import { UnreadError } from '../limits.ts'
import { type ContactState, type PastOfKey, type State, pastKey } from '../state.ts'

export const NOTHING: PastOfKey = { wasEntered: false, goalAt: null }

/** Throws UnreadError when it was not read. */
export function pastOf(state: State, contact: ContactState, campaignId: string, key: string): PastOfKey {
  const past = contact.pastOfKeys.get(pastKey(campaignId, key))
  if (past) return past
  if (isAllNew(state, contact)) return NOTHING
  throw new UnreadError(state, contact)
}

/**
 * Returns whether this batch has made the contact, and all that were merged into it: then nothing of them is in Postgres.
 * `besides`: a merged one that is left out.
 */
export function isAllNew(state: State, { id, version }: ContactState, besides?: string): boolean {
  if (version !== null) return false
  return [...state.mergedInto].every(([loser, into]) => {
    const merged = state.contacts.get(loser)
    return into !== id || loser === besides || (merged !== undefined && isAllNew(state, merged))
  })
}
