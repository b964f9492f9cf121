import { type Changes, deltaOf } from '../changes.ts'
import { type ContactState, identityKey } from '../state.ts'

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
  const { businessId, id } = contact
  const key = identityKey(businessId, kind, value)
  changes.identities.set(
    key,
    changes.identities.get(key) ?? { businessId, kind, value, phoneRead: false, row: 'stays' },
  )
  deltaOf(changes, id).raisesVersion = true
  return true
}
