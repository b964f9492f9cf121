/** The names (`business kind:value`) of each contact that is not merged. */
import type { Held } from '../read-held.ts'

export const namesNow = ({ identities }: Held): Map<string, string[]> =>
  Map.groupBy(identities.keys(), (name) => identities.get(name)?.contactId ?? '')

/** Includes names that have left the contact, because they were not proven. */
export function namesEver(held: Held): Map<string, string[]> {
  const left = held.moves
    .filter(({ action }) => action !== 'merged')
    .flatMap(({ losingId, evidence }) => evidence.map((name) => ({ name, contactId: losingId })))
  const now = [...held.identities].map(([name, { contactId }]) => ({ name, contactId }))
  const names = Map.groupBy([...now, ...left], ({ contactId }) => held.contacts.get(contactId)?.survivor ?? contactId)
  return new Map([...names].map(([id, entries]) => [id, entries.map(({ name }) => name)]))
}
