/**
 * The primary email and phone of a contact (decisions, "Callers without a secret key"). A message goes to the primary
 * one, and every list of identities begins with it.
 */
import { type Changes, type DecisionContext, deltaOf } from '../changes.ts'
import type { Identity } from '../events/facts.ts'
import type { ContactState } from '../state.ts'

/** The kinds that messages can be sent to. */
export const ADDRESS_KINDS = ['email', 'phone'] as const
export type AddressKind = (typeof ADDRESS_KINDS)[number]

/** Makes the addresses of a call primary. Those that the contact did not get stay where they are. */
export function makeAllPrimary({ changes }: DecisionContext, contact: ContactState, identity: Identity): void {
  for (const kind of ADDRESS_KINDS) {
    const value = identity[kind]
    if (value !== undefined) makePrimary(changes, contact, kind, value)
  }
}

/**
 * Does nothing when the address was made primary before, or does not belong to the contact. One that is primary because
 * it was sent first is made so once: if the contact is merged, it competes with what was named for the other one.
 */
function makePrimary(changes: Changes, contact: ContactState, kind: AddressKind, value: string): void {
  const own = contact.identities.filter((identity) => identity.kind === kind)
  const primaries = own.filter((identity) => identity.isPrimary)
  const isKnown = primaries.length === 1 && primaries[0]?.value === value
  // After a merge in this micro-batch there can be two: the working copy does not know which of them came first.
  if (isKnown || !own.some((identity) => identity.value === value)) return
  namePrimary(changes, contact, kind, value)
}

/** Makes an address of the contact primary, even when it seems to be so. */
export function namePrimary(changes: Changes, contact: ContactState, kind: AddressKind, value: string): void {
  for (const identity of contact.identities) if (identity.kind === kind) identity.isPrimary = identity.value === value
  setPrimary(changes, contact, kind, value)
}

/** Call it after the primary address was removed: of the others, the one that was made primary last takes its place. */
export function restorePrimary(changes: Changes, contact: ContactState, kind: AddressKind): void {
  setPrimary(changes, contact, kind, null)
}

/** `value` null: the one that was made primary last, which only Postgres knows. */
function setPrimary(changes: Changes, contact: ContactState, kind: AddressKind, value: string | null): void {
  const key = `${contact.id} ${kind}`
  // Keeps the map in the order of the calls.
  changes.primaries.delete(key)
  changes.primaries.set(key, { businessId: contact.businessId, contactId: contact.id, kind, value })
  deltaOf(changes, contact.id).raisesVersion = true
}
