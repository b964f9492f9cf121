/**
 * Groups identities by person, as far as that does not depend on the order: identities that one call with a key names
 * together belong to one contact. A call without a key may connect its identities or not, but never merges two
 * contacts.
 */
import type { Sending } from '../ledger.ts'
import type { Held } from '../read-held.ts'
import type { RecordedFact } from './facts.ts'

/** All names have the form `business kind:value`. */
export interface People {
  /** Names that calls with a key connect. Each group is one contact. */
  sure: string[][]
  /** The same, including calls without a key. A contact has names of only one of these groups. */
  possible: string[][]
  /** Index of each name's group in `possible`. */
  personOf: Map<string, number>
  /** The names of each single call with a key, sorted and joined. */
  named: Set<string>
}

export function groupPeople(recorded: RecordedFact[], identifies: Sending[], held: Held): People {
  const kept = identifies.filter(({ mark }) => held.identifications.has(mark))
  const keyed = [
    ...recorded.map(({ fact }) => namesOf(fact.businessId, fact.identity)),
    ...kept.filter(({ unkeyed }) => !unkeyed).map(namesOfSending),
  ]
  const possible = unite([...keyed, ...kept.filter(({ unkeyed }) => unkeyed).map(namesOfSending)])
  return {
    sure: unite(keyed),
    possible,
    personOf: new Map(possible.flatMap((names, at) => names.map((name) => [name, at] as const))),
    named: new Set(keyed.map(asOne)),
  }
}

export const namesOf = (businessId: string, identity: string[]): string[] =>
  identity.map((one) => `${businessId} ${one}`)

export const namesOfSending = ({ business, identity }: Sending): string[] => namesOf(business.businessId, identity)

export const asOne = (names: string[]): string => names.toSorted().join()

/** Unites sets that share a name. */
function unite(sets: string[][]): string[][] {
  const groupOf = new Map<string, Set<string>>()
  for (const names of sets) {
    const united = new Set(names)
    for (const group of names.map((name) => groupOf.get(name))) for (const name of group ?? []) united.add(name)
    for (const name of united) groupOf.set(name, united)
  }
  return [...new Set(groupOf.values())].map((group) => [...group])
}
