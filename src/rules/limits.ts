/** How much one contact can hold (docs/events.md, "Limits of one contact"). Past a limit a call warns; its event is still recorded. */
import type { ContactState, State } from './state.ts'
import { survivorOf } from './state.ts'

/** As `merge_tags` has it. */
export const MAX_TAGS = 1000
/** Emails, or phones. */
export const MAX_OF_A_KIND = 100
/** Together: more than two kinds give, since merged contacts keep all of theirs. */
export const MAX_IDENTITIES = 1000
/** Keys cleared that have no field, as `unite_traits` has it. */
export const MAX_CLEARED = 1000
export const MAX_ENROLMENTS = 1000
export const MAX_ENROLMENTS_OF_AN_EVENT = 20
/** Browsers that were linked one by one; a merge unites the lists. */
export const MAX_BROWSERS = 1000

/** As messages write it: 1,000. */
export const showCount = (count: number): string => count.toLocaleString('en-US')

/** `1 tag was`, `2 tags were`. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  count === 1 ? `1 ${one} was` : `${showCount(count)} ${many} were`

/** A rule needs what was not read of these contacts: tags, cleared keys, browsers. The micro-batch is decided again with it. */
export class UnreadError extends Error {
  override name = 'UnreadError'
  readonly contactIds: readonly string[]

  /** All that were merged into the contact in this batch are read too: it has what they had. */
  constructor(state: State, { id }: ContactState) {
    super('a contact was not read in full')
    const merged = [...state.mergedInto.keys()].filter((loser) => survivorOf(state, loser) === id)
    this.contactIds = [id, ...merged].filter((one) => state.contacts.get(one)?.version !== null)
  }
}
