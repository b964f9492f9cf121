/** An operator's changes of a contact's addresses: which are primary, and which are removed. */
import { type Changes, type DecisionContext, deltaOf } from '../changes.ts'
import type { EditFact } from '../events/facts.ts'
import { type Fault, faultOf } from '../faults.ts'
import { watchFact } from '../segments/membership/watch-item.ts'
import { type ContactState, identityKey } from '../state.ts'
import { ADDRESS_KINDS, type AddressKind, namePrimary, restorePrimary } from './make-primary.ts'
import { moveBehind } from './prove-email.ts'

type EditedIdentities = Pick<EditFact, 'primary' | 'removed'>

/** Names of the fields of an edit, for messages. */
export const PRIMARY_FIELDS: Record<AddressKind, string> = { email: 'primaryEmail', phone: 'primaryPhone' }

/** Returns why the changes are refused. */
export function identityFaults(contact: ContactState, { primary = {}, removed = {} }: EditedIdentities): Fault[] {
  const faults: Fault[] = []
  for (const kind of ADDRESS_KINDS) {
    const value = primary[kind]
    if (value === undefined) continue
    if (!holds(contact, kind, value)) faults.push(faultOf(PRIMARY_FIELDS[kind], `${kind}_of_the_contact`))
    else if (removedOf(contact, kind, removed).includes(value))
      faults.push(faultOf(PRIMARY_FIELDS[kind], 'removed_as_well'))
  }
  const isLeft = contact.identities.some(
    ({ kind, value }) => kind === 'platformCustomerId' || !removedOf(contact, kind, removed).includes(value),
  )
  const removesSome = ADDRESS_KINDS.some((kind) =>
    removedOf(contact, kind, removed).some((value) => value !== undefined),
  )
  if (removesSome && !isLeft) faults.push(faultOf('removeIdentities', 'one_identity_left'))
  return faults
}

/**
 * Removes addresses, and makes others primary. An address that the contact does not have is not removed, with a
 * warning.
 * @returns warnings
 */
export function editIdentities(
  context: DecisionContext,
  contact: ContactState,
  { primary = {}, removed = {} }: EditedIdentities,
): string[] {
  const warnings: string[] = []
  for (const kind of ADDRESS_KINDS) {
    for (const value of new Set(removedOf(contact, kind, removed))) {
      if (value !== undefined) remove(context, contact, kind, value)
      else warnings.push(`removeIdentities.${kind} has a value that the contact does not have`)
    }
    const value = primary[kind]
    if (value !== undefined) nameAddress(context.changes, contact, kind, value)
  }
  return warnings
}

/** The addresses that the contact loses; undefined for one that it does not have. */
const removedOf = (contact: ContactState, kind: AddressKind, removed: NonNullable<EditedIdentities['removed']>) =>
  (removed[kind] ?? []).map((spellings) => [spellings].flat().find((value) => holds(contact, kind, value)))

const holds = ({ identities }: ContactState, kind: AddressKind, value: string): boolean =>
  identities.some((identity) => identity.kind === kind && identity.value === value)

function remove(context: DecisionContext, contact: ContactState, kind: AddressKind, value: string): void {
  const { state, changes } = context
  const { businessId } = contact
  watchFact(context, contact, `identity:${kind}`)
  contact.identities = contact.identities.filter((identity) => identity.kind !== kind || identity.value !== value)
  state.owners[kind].delete(businessId, value)
  changes.identities.set(identityKey(businessId, kind, value), {
    businessId,
    kind,
    value,
    phoneRead: false,
    row: 'leaves',
  })
  restorePrimary(changes, contact, kind)
}

/** A person of the business knows that the address is the contact's, so it counts as proven. */
function nameAddress(changes: Changes, contact: ContactState, kind: AddressKind, value: string): void {
  const identity = contact.identities.find((one) => one.kind === kind && one.value === value)
  if (!identity) return
  if (!identity.proven) {
    identity.proven = true
    moveBehind(contact, identity)
    const { businessId } = contact
    const key = identityKey(businessId, kind, value)
    changes.identities.set(key, { businessId, kind, value, phoneRead: false, row: 'stays' })
    deltaOf(changes, contact.id).raisesVersion = true
  }
  namePrimary(changes, contact, kind, value)
}
