import { type ContactState, type State, survivorOf } from '../state.ts'

/** The contact that an id names, if it is this business's. */
export function namedContact(state: State, item: { businessId: string; contactId: string }): ContactState | undefined {
  const known = [...state.contacts.values()].find(
    ({ id, mergedIds }) => id === item.contactId || mergedIds.includes(item.contactId),
  )
  const contact = known && state.contacts.get(survivorOf(state, known.id))
  return contact?.businessId === item.businessId ? contact : undefined
}
