/** Compares contacts, identities and merges with the people who were sent. */
import { type Sending, isKept } from '../ledger.ts'
import type { Held } from '../read-held.ts'
import { type People, asOne } from './group-people.ts'
import { namesNow } from './names-of-contacts.ts'

export function checkPeople(people: People, identifies: Sending[], held: Held): string[] {
  return [
    ...checkOneContact(people, held),
    ...checkOnePerson(people, held),
    ...checkProofs(people, held),
    ...checkMerges(people, held),
    ...checkIdentifies(identifies, held),
  ]
}

/** Each person is one contact. */
function checkOneContact({ sure }: People, { identities }: Held): string[] {
  return sure.flatMap((names) => {
    const ids = new Set(names.map((name) => identities.get(name)?.contactId))
    return ids.size === 1 && !ids.has(undefined) ? [] : [`${names.join(', ')} lie on ${[...ids].join(', ')}`]
  })
}

/** Each contact is one person: it has only names of that person, and at least one, unless that was moved away. */
function checkOnePerson({ personOf }: People, held: Held): string[] {
  const { contacts, identities, moves } = held
  const namesOn = namesNow(held)
  const leftBy = new Set(moves.filter(({ action }) => action !== 'merged').map(({ losingId }) => losingId))
  const strays = [...identities.keys()].filter((name) => !personOf.has(name)).map((name) => `nobody sent ${name}`)
  const complaints = [...contacts].flatMap(([id, { survivor, keyed, mergedIds }]) => {
    if (id !== survivor) return []
    const names = namesOn.get(id) ?? []
    const persons = new Set(names.map((name) => personOf.get(name)))
    if (persons.size > 1) return [`contact ${id} is ${persons.size} people: ${names.join(', ')}`]
    const wasEmptied = !keyed && [id, ...mergedIds].some((one) => leftBy.has(one))
    return persons.size === 1 || wasEmptied ? [] : [`contact ${id} is nobody`]
  })
  return [...strays, ...complaints]
}

/** An identity is proven when a call with a key has sent it. */
function checkProofs({ sure }: People, { identities }: Held): string[] {
  const proven = new Set(sure.flat())
  return [...identities]
    .filter(([name, held]) => held.proven !== proven.has(name))
    .map(([name, held]) => `${name} ${held.proven ? 'is proven, and no call with a key sent it' : 'is not proven'}`)
}

/** Each merged contact has one log entry, with exactly the names of one call with a key. */
function checkMerges({ named }: People, { contacts, moves }: Held): string[] {
  const merges = moves.filter(({ action }) => action === 'merged')
  const unasked = merges.filter(({ evidence }) => !named.has(asOne(evidence)))
  const entries = Map.groupBy(merges, ({ losingId }) => losingId)
  const losers = [...contacts].filter(([id, { survivor }]) => id !== survivor).map(([id]) => id)
  const apart = [...new Set([...entries.keys(), ...losers])].filter(
    (id) => entries.get(id)?.length !== 1 || !losers.includes(id),
  )
  return [
    ...unasked.map(
      ({ losingId, evidence }) => `nobody with a key asked to merge ${losingId} for ${evidence.join(', ')}`,
    ),
    ...apart.map((id) => `${id} was merged away ${entries.get(id)?.length ?? 0} times by the log`),
  ]
}

/**
 * Each acknowledged identify is stored once, and one with an unknown outcome at most once. Each has the trust of its
 * call.
 */
function checkIdentifies(identifies: Sending[], { identifications }: Held): string[] {
  return identifies.flatMap(({ mark, attempts, unkeyed = false }) => {
    const kept = identifications.get(mark) ?? []
    const sure = attempts.filter(isKept).length
    const perhaps = attempts.filter(({ outcome }) => outcome === 'unknown').length
    const isWell = kept.length >= sure && kept.length <= sure + perhaps
    return [
      ...(isWell ? [] : [`identify ${mark} is kept ${kept.length} times, not ${sure} to ${sure + perhaps}`]),
      ...(kept.every(({ keyed }) => keyed === !unkeyed) ? [] : [`identify ${mark} is kept with another trust`]),
    ]
  })
}
