import { type ContactState, type State, survivorOf } from '../state.ts'

/**
 * Returns the contact with this id, or the survivor of a merge; undefined when it does not belong to the item's
 * business.
 */
export function contactById(state: State, item: { businessId: string; contactId: string }): ContactState | undefined {
  const known =
    state.contacts.get(item.contactId) ??
    [...state.contacts.values()].find(({ mergedIds }) => mergedIds.includes(item.contactId))
  const contact = known && state.contacts.get(survivorOf(state, known.id))
  return contact?.businessId === item.businessId ? contact : undefined
}
