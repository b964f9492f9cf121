import { type Changes, deltaOf } from '../changes.ts'
import { type ContactState, type ContactIdentity, identityKey } from '../state.ts'

/** A value that is proven now comes after those that were proven before. */
export function moveBehind(contact: ContactState, identity: ContactIdentity): void {
  contact.identities = [...contact.identities.filter((other) => other !== identity), identity]
}

/**
 * Marks an address as proven, after the person has shown that it is theirs. Returns false when the contact no longer
 * has it.
 */
export function proveEmail(changes: Changes, contact: ContactState, value: string): boolean {
  const kind = 'email'
  const identity = contact.identities.find((one) => one.kind === kind && one.value === value)
  if (identity === undefined) return false
  if (identity.proven) return true
  identity.proven = true
  moveBehind(contact, identity)
  const { businessId, id } = contact
  const key = identityKey(businessId, kind, value)
  const change = changes.identities.get(key) ?? { businessId, kind, value, phoneRead: false, row: 'stays' }
  changes.identities.delete(key)
  changes.identities.set(key, change)
  deltaOf(changes, id).raisesVersion = true
  return true
}
