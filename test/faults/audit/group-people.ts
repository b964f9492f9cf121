/**
 * Who is one person, as far as that does not depend on order: the identity fields that one call with a key named
 * together are one contact's. A call without a key may put them together, or not; it never joins two contacts.
 */
import type { Sending } from '../ledger.ts'
import type { Held } from '../read-held.ts'
import type { RecordedFact } from './facts.ts'

/** All names are `business kind:value`. */
export interface People {
  /** What calls with a key named together; each is one contact. */
  sure: string[][]
  /** The same with the calls without a key: a contact has names of one of these only. */
  possible: string[][]
  /** Which of `possible` a name is in. */
  personOf: Map<string, number>
  /** The sets that single calls with a key named, each sorted and joined. */
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

/** Sets that share a name are one. */
function unite(sets: string[][]): string[][] {
  const groupOf = new Map<string, Set<string>>()
  for (const names of sets) {
    const united = new Set(names)
    for (const group of names.map((name) => groupOf.get(name))) for (const name of group ?? []) united.add(name)
    for (const name of united) groupOf.set(name, united)
  }
  return [...new Set(groupOf.values())].map((group) => [...group])
}
