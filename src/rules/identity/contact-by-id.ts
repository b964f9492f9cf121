import { type ContactState, type State, survivorOf } from '../state.ts'

/** The contact with this id, or the survivor of a merge; undefined when it is not the item's business's. */
export function contactById(state: State, item: { businessId: string; contactId: string }): ContactState | undefined {
  const known =
    state.contacts.get(item.contactId) ??
    [...state.contacts.values()].find(({ mergedIds }) => mergedIds.includes(item.contactId))
  const contact = known && state.contacts.get(survivorOf(state, known.id))
  return contact?.businessId === item.businessId ? contact : undefined
}
