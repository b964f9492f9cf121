/** Which identities, as `business kind:value`, lie on which contact that is not merged away. */
import type { Held } from '../read-held.ts'

export const namesNow = ({ identities }: Held): Map<string, string[]> =>
  Map.groupBy(identities.keys(), (name) => identities.get(name)?.contactId ?? '')

/** With those that have left it since: they were not proven. */
export function namesEver(held: Held): Map<string, string[]> {
  const left = held.moves
    .filter(({ action }) => action !== 'merged')
    .flatMap(({ losingId, evidence }) => evidence.map((name) => ({ name, contactId: losingId })))
  const now = [...held.identities].map(([name, { contactId }]) => ({ name, contactId }))
  const names = Map.groupBy([...now, ...left], ({ contactId }) => held.contacts.get(contactId)?.survivor ?? contactId)
  return new Map([...names].map(([id, entries]) => [id, entries.map(({ name }) => name)]))
}
