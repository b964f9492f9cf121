/**
 * Fills the gaps of a profile: a missing value is filled, an existing one is not overwritten. There is one exception.
 * When pages are not trusted (`waitsForKey`), a keyed call replaces a value from a page, and so does a keyed value in a
 * merge.
 */
import { type Changes, type DecisionContext, deltaOf } from '../changes.ts'
import { PROFILE_FIELDS, type Profile, type ProfileField } from '../events/facts.ts'
import { watchFact } from '../segments/membership/watch-item.ts'
import { type ContactState, type State, waitsForKey } from '../state.ts'

/** One value, and whether it came from a page. */
interface ProfileValue {
  value: string
  byPage: boolean
}

export function fillProfile(context: DecisionContext, contact: ContactState, sent: Profile, keyed: boolean): void {
  for (const field of PROFILE_FIELDS) {
    const value = sent[field]
    const filled = value !== undefined && { value, byPage: !keyed }
    if (!filled || !isOpenFor(context.state, contact, field, filled)) continue
    watchFact(context, contact, `profile:${field}`)
    fillField(context.changes, contact, field, filled)
  }
}

/** Merges profiles: the survivor's values stay, and the loser's fill the gaps. */
export function mergeProfiles(state: State, changes: Changes, survivor: ContactState, loser: ContactState): void {
  for (const field of PROFILE_FIELDS) {
    const theirs = valueOf(loser, field)
    if (theirs && isOpenFor(state, survivor, field, theirs)) fillField(changes, survivor, field, theirs)
  }
  loser.profile = {}
  loser.pageFilled = 0
}

/** Returns whether the value is missing, or may be replaced with this one. */
function isOpenFor(state: State, contact: ContactState, field: ProfileField, sent: ProfileValue): boolean {
  const existing = valueOf(contact, field)
  return !existing || yieldsTo(existing, sent, waitsForKey(state, contact))
}

function fillField(changes: Changes, contact: ContactState, field: ProfileField, sent: ProfileValue): void {
  contact.profile[field] = sent.value
  contact.pageFilled = sent.byPage ? contact.pageFilled | bitOf(field) : contact.pageFilled & ~bitOf(field)
  const delta = deltaOf(changes, contact.id)
  delta.profile[field] = sent.value
  // Later decisions depend on the profile: a decision that was made without this value must not be saved.
  delta.raisesVersion = true
}

/** Sets a field to a keyed value, whatever its value was. Null clears it. */
export function setField(contact: ContactState, field: ProfileField, value: string | null): void {
  if (value === null) delete contact.profile[field]
  else contact.profile[field] = value
  contact.pageFilled &= ~bitOf(field)
}

/** Returns whether the sent value replaces the existing one. A keyed call that sends the page's value confirms it. */
function yieldsTo(existing: ProfileValue, sent: ProfileValue, pagesWait: boolean): boolean {
  return existing.byPage && !sent.byPage && (pagesWait || existing.value === sent.value)
}

function valueOf({ profile, pageFilled }: ContactState, field: ProfileField): ProfileValue | undefined {
  const value = profile[field]
  return value === undefined ? undefined : { value, byPage: (pageFilled & bitOf(field)) !== 0 }
}

const bitOf = (field: ProfileField): number => 1 << PROFILE_FIELDS.indexOf(field)
