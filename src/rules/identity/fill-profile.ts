/**
 * Fills the gaps of a profile: a missing value is filled, an existing one never overwritten. Where pages are not trusted
 * (`waitsForKey`), a value that a page filled counts as missing to a keyed call, and in a merge to a keyed value.
 */
import { type Changes, type Deciding, deltaOf } from '../changes.ts'
import { PROFILE_FIELDS, type Profile, type ProfileField } from '../events/facts.ts'
import { type ContactState, type State, waitsForKey } from '../state.ts'

/** One value and whether a page said it. */
interface Value {
  value: string
  byPage: boolean
}

export function fillProfile({ state, changes }: Deciding, contact: ContactState, sent: Profile, keyed: boolean): void {
  for (const field of PROFILE_FIELDS) {
    const value = sent[field]
    if (value !== undefined) fillField(state, changes, contact, field, { value, byPage: !keyed })
  }
}

/** In a merge the survivor's values stay, and its gaps are filled. */
export function uniteProfiles(state: State, changes: Changes, survivor: ContactState, loser: ContactState): void {
  for (const field of PROFILE_FIELDS) {
    const theirs = valueOf(loser, field)
    if (theirs) fillField(state, changes, survivor, field, theirs)
  }
  loser.profile = {}
  loser.pageFilled = 0
}

function fillField(state: State, changes: Changes, contact: ContactState, field: ProfileField, sent: Value): void {
  const held = valueOf(contact, field)
  if (held && !gives(held, sent, waitsForKey(state, contact))) return
  contact.profile[field] = sent.value
  contact.pageFilled = sent.byPage ? contact.pageFilled | bitOf(field) : contact.pageFilled & ~bitOf(field)
  const delta = deltaOf(changes, contact.id)
  delta.profile[field] = sent.value
  // The next decision depends on it: one that was made without knowing it must not be saved.
  delta.raisesVersion = true
}

/** Whatever was there: a server's word. Null: unknown from now on. */
export function setField(contact: ContactState, field: ProfileField, value: string | null): void {
  if (value === null) delete contact.profile[field]
  else contact.profile[field] = value
  contact.pageFilled &= ~bitOf(field)
}

/** A keyed call that says the same as the page confirms it. */
function gives(held: Value, sent: Value, pagesWait: boolean): boolean {
  return held.byPage && !sent.byPage && (pagesWait || held.value === sent.value)
}

function valueOf({ profile, pageFilled }: ContactState, field: ProfileField): Value | undefined {
  const value = profile[field]
  return value === undefined ? undefined : { value, byPage: (pageFilled & bitOf(field)) !== 0 }
}

const bitOf = (field: ProfileField): number => 1 << PROFILE_FIELDS.indexOf(field)
