/** Checks what callers without a key can do, in any order (decisions, "Callers without a secret key"). */
import type { Sending } from '../ledger.ts'
import type { Held } from '../read-held.ts'
import { type People, namesOf, namesOfSending } from './group-people.ts'
import { namesEver, namesNow } from './names-of-contacts.ts'

export function checkUnkeyed(people: People, identifies: Sending[], held: Held): string[] {
  const unkeyed = identifies.filter((sending) => sending.unkeyed)
  const ever = namesEver(held)
  return [
    ...checkSecondValues(held),
    ...checkProfiles(people, identifies, held),
    ...unkeyed.flatMap((sending) => checkAnswersTo(sending, held, ever)),
  ]
}

/** Each original contact has at most one unproven value per kind. */
function checkSecondValues({ identities, contacts }: Held): string[] {
  const unproven = [...identities].filter(([, { proven }]) => !proven)
  const kinds = Map.groupBy(unproven, ([name, { contactId }]) => `${contactId} ${kindOf(name)}`)
  return [...kinds].flatMap(([contactAndKind, values]) => {
    const [, { contactId }] = values[0] ?? ['', { contactId: '' }]
    const most = 1 + (contacts.get(contactId)?.mergedIds.length ?? 0)
    return values.length <= most ? [] : [`without a key ${contactAndKind} got ${values.length} values`]
  })
}

/** `business kind:value` → `kind` */
const kindOf = (name: string): string => name.slice(name.indexOf(' ') + 1, name.indexOf(':'))

/**
 * A missing name is filled with one that a call sent for that person. If a call with a key has sent one, the contact
 * has a name.
 */
function checkProfiles({ personOf }: People, identifies: Sending[], held: Held): string[] {
  const kept = identifies.filter(({ mark, firstName }) => firstName && held.identifications.has(mark))
  const personIn = (sending: Sending) => personOf.get(namesOfSending(sending)[0] ?? '')
  const byPerson = Map.groupBy(kept, personIn)
  const namesOn = namesNow(held)
  return [...held.contacts].flatMap(([id, { survivor, firstName }]) => {
    const names = namesOn.get(id) ?? []
    if (id !== survivor || names.length === 0) return []
    const aboutThem = byPerson.get(personOf.get(names[0] ?? '')) ?? []
    const mustHave = aboutThem.some((sending) => !sending.unkeyed && names.includes(namesOfSending(sending)[0] ?? ''))
    if (firstName === null) return mustHave ? [`contact ${id} has no name, and was sent one`] : []
    return aboutThem.some((sending) => sending.firstName === firstName) ? [] : [`contact ${id} is called ${firstName}`]
  })
}

/** The answer warns that its traits do not count, and names a contact that had one of its names at that time. */
function checkAnswersTo({ mark, business, identity, attempts }: Sending, held: Held, ever: Map<string, string[]>) {
  const names = namesOf(business.businessId, identity)
  const answers = attempts.filter(({ outcome }) => outcome === 'answered').map(({ data }) => data)
  return answers.flatMap(({ contactId = '', warnings = [] }) => {
    const had = ever.get(held.contacts.get(contactId)?.survivor ?? '') ?? []
    const isTheirs = names.some((name) => had.includes(name))
    const isWarned = warnings.some((warning) => warning.startsWith('traits were ignored'))
    return [
      ...(isTheirs ? [] : [`${mark}, without a key, was answered with ${contactId}, which never had its names`]),
      ...(isWarned ? [] : [`${mark} got no warning`]),
    ]
  })
}
