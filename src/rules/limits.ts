/**
 * The limits of one contact (docs/events.md, "Limits of one contact"). Beyond a limit, a call returns a warning, but
 * its event is still recorded.
 */
import type { ContactState, State } from './state.ts'
import { survivorOf } from './state.ts'

/** The same as in the SQL function `merge_tags`. */
export const MAX_TAGS = 1000
/** The maximum number of emails, and of phones. */
export const MAX_OF_A_KIND = 100
/**
 * Identities of all kinds. It is more than twice `MAX_OF_A_KIND`, since a merge keeps all identities of both contacts.
 */
export const MAX_IDENTITIES = 1000
/** Cleared keys that have no field. The same as in the SQL function `unite_traits`. */
export const MAX_CLEARED = 1000
/** Of enrolments with keys, only active ones count. */
export const MAX_ENROLMENTS = 1000
export const countEnrolments = ({ enrolments }: Pick<ContactState, 'enrolments'>): number =>
  enrolments.filter(({ key, state }) => key === null || state === 'active').length
/** Active enrolments with keys: in one campaign, and in all. A merge may exceed both. */
export const MAX_ACTIVE_IN_CAMPAIGN = 100
export const MAX_ACTIVE_WITH_KEYS = 500
/** Ended enrolments with keys of a contact that are remembered. The same as in the SQL function `load_keys`. */
export const MAX_REMEMBERED = 10_000
export const MAX_ENROLMENTS_OF_AN_EVENT = 20
/** Once a chain has this many enrolments, update steps start no more in it. */
export const MAX_CHAIN = 10
/** Browsers linked one by one. A merge may exceed the limit: it combines the lists. */
export const MAX_BROWSERS = 1000

/** Formats a number as messages show it: 1,000. */
export const showCount = (count: number): string => count.toLocaleString('en-US')

/** Returns the start of a message: `1 tag was`, `2 tags were`. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  count === 1 ? `1 ${one} was` : `${showCount(count)} ${many} were`

/**
 * Thrown when a rule needs tags, cleared keys or browsers of contacts that were not read. Read them and decide the
 * micro-batch again.
 */
export class UnreadError extends Error {
  override name = 'UnreadError'
  readonly contactIds: readonly string[]

  /** Also includes the contacts that were merged into these in this batch, since their data now belongs to these. */
  constructor(state: State, ...contacts: ContactState[]) {
    super('a contact was not read in full')
    const ids = contacts.map(({ id }) => id)
    const merged = [...state.mergedInto.keys()].filter((loser) => ids.includes(survivorOf(state, loser)))
    this.contactIds = [...ids, ...merged].filter((one) => state.contacts.get(one)?.version !== null)
  }
}
