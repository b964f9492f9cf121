/** Checks that the answers to callers agree with each other, and with the content of the stores. */
import type { Ledger, Sending } from '../ledger.ts'
import type { Held } from '../read-held.ts'
import { type Facts, attemptsOf, mayBeSilent } from './facts.ts'
import { type People, namesOf, namesOfSending } from './group-people.ts'
import { namesEver } from './names-of-contacts.ts'

export function checkAnswers(facts: Facts, ledger: Ledger, people: People, held: Held): string[] {
  return [
    ...checkDeduped(facts),
    ...checkBatches(ledger),
    ...checkMoney(ledger),
    ...checkContactIds(ledger, held),
    ...checkNews(ledger, people, held),
  ]
}

/** Exactly one of all answers for a key is not `deduped`, unless that answer may have been lost. */
function checkDeduped(facts: Facts): string[] {
  return [...facts].flatMap(([{ mark }, sendings]) => {
    const live = attemptsOf(sendings.filter(({ kind }) => kind === 'track'))
    const answers = live.filter(({ outcome }) => outcome === 'answered')
    const firsts = answers.filter(({ data }) => data.deduped === false).length
    const elsewhere = mayBeSilent(sendings) || sendings.some(({ kind }) => kind === 'batch')
    const isWell = firsts === 1 || (firsts === 0 && (elsewhere || answers.length === 0))
    return isWell ? [] : [`${firsts} of ${answers.length} answers are the first of ${mark}`]
  })
}

/** Checks the counts of a batch that was sent once and answered. */
function checkBatches(ledger: Ledger): string[] {
  const once = ledger.sendings.filter(({ kind, attempts }) => kind === 'batch' && attempts.length === 1)
  return once.flatMap(({ facts, known, attempts }) => {
    const [{ outcome, data } = { outcome: 'unknown', data: {} }] = attempts
    if (outcome !== 'answered') return []
    const failed = facts.filter(({ valid }) => !valid).length
    const { received, recorded = -1, deduped, failed: refused } = data
    const fresh = facts.length - failed
    const isWell =
      received === facts.length &&
      refused === failed &&
      recorded + Number(deduped) === fresh &&
      Number(deduped) >= known &&
      // A batch contains at most one repeat.
      Number(deduped) <= 1
    return isWell ? [] : [`a batch of ${facts.length} (${failed} bad, ${known} known) says ${JSON.stringify(data)}`]
  })
}

/** The answer reports exactly the sent amount as counted; zero for a repeat. */
function checkMoney(ledger: Ledger): string[] {
  const tracks = ledger.sendings.filter(({ kind }) => kind === 'track')
  return tracks.flatMap(({ facts: [fact], attempts }) =>
    attempts.flatMap(({ outcome, data: { interpreted, deduped } }) => {
      if (outcome !== 'answered' || !fact) return []
      const due = deduped ? 0 : fact.cents / 100
      return interpreted?.countedRevenue === due
        ? []
        : [`${fact.mark} counted ${interpreted?.countedRevenue}, not ${due}`]
    }),
  )
}

const answersOf = (ledger: Ledger) =>
  ledger.sendings
    .filter(({ kind }) => kind !== 'batch')
    .flatMap((sending) => sending.attempts.map((attempt) => ({ sending, ...attempt })))
    .filter(({ outcome }) => outcome === 'answered')

/** The contact in an answer has, or was merged into the one that has, the identity now. */
function checkContactIds(ledger: Ledger, { contacts, identities }: Held): string[] {
  const misled = answersOf(ledger).filter(({ sending, data }) => {
    // An unproven identity may have moved since.
    if (sending.unkeyed) return false
    const { survivor } = contacts.get(data.contactId ?? '') ?? {}
    return namesOfSending(sending).some((name) => identities.get(name)?.contactId !== survivor)
  })
  return misled.map(({ sending, data }) => `${sending.mark} was answered with ${data.contactId}, not its contact`)
}

/** Each contact was new in exactly one answer; in none if the call that created it may not have reported it. */
function checkNews(ledger: Ledger, { personOf }: People, held: Held): string[] {
  const news = Map.groupBy(
    answersOf(ledger).filter(({ data }) => data.isNew),
    ({ data }) => data.contactId ?? '',
  )
  const silent = new Set(silentNames(ledger).map((name) => personOf.get(name)))
  const names = namesEver(held)
  return [...held.contacts].flatMap(([id, { survivor }]) => {
    const times = news.get(id)?.length ?? 0
    const maybeSilent = (names.get(survivor) ?? []).some((name) => silent.has(personOf.get(name)))
    return times === 1 || (times === 0 && maybeSilent) ? [] : [`contact ${id} was new in ${times} answers`]
  })
}

/** Names that were sent in calls whose answers may lack `isNew`. */
function silentNames(ledger: Ledger): string[] {
  const silent = (sending: Sending) => sending.kind === 'batch' || mayBeSilent([sending])
  return ledger.sendings
    .filter(silent)
    .flatMap(({ business, facts, identity }) =>
      namesOf(business.businessId, [...identity, ...facts.flatMap((fact) => fact.identity)]),
    )
}
