/** The rows of the identities of a micro-batch. */
import type { Changes } from '../rules/changes.ts'
import { type ContactState, type State, survivorOf } from '../rules/state.ts'
import type { ContactPositions } from './merge-records.ts'
import { byFirst } from './sort-records.ts'

/**
 * Identities that Postgres does not have are inserted, never updated: if another worker has inserted one, that is a
 * conflict. They are numbered in the order in which they were first sent, even when their contacts are merged.
 */
export function identityRecords(state: State, { identities }: Changes, places: ContactPositions) {
  const leaving = [...identities].sort(byFirst).flatMap(([, change]) => (change.row === 'leaves' ? [change] : []))
  const held = [...identities].flatMap(([key, change]) => {
    const contact = holderOf(state, key)
    const own = contact?.identities.find(({ kind, value }) => kind === change.kind && value === change.value)
    return contact && own ? [{ ...change, contactId: contact.id, proven: own.proven }] : []
  })
  return {
    released: leaving,
    kept: held.filter(({ row }) => row === 'stays'),
    inserted: held
      .filter(({ row }) => row !== 'stays')
      .map(({ kind, value, contactId, proven, phoneRead }) => ({
        place: places.get(contactId),
        kind,
        value,
        proven,
        phone_read: phoneRead,
      })),
  }
}

function holderOf(state: State, key: string): ContactState | undefined {
  const ownerId = state.owners.get(key)
  return ownerId === undefined ? undefined : state.contacts.get(survivorOf(state, ownerId))
}
