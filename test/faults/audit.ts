/**
 * What must be true afterwards, worked out from the ledger alone and compared with what the stores hold. Nothing here
 * knows how the product does it.
 */
import type { Fact, Ledger, Sending } from './ledger.ts'
import { type Held, type Stores, readHeld } from './read-held.ts'

export interface Audit {
  /** Events with a 200 or a 202. */
  acknowledged: number
  /** Events that are in Postgres. */
  recorded: number
  lost: number
  doubled: number
  /** In words; empty when all is well. */
  complaints: string[]
}

const MOST_COMPLAINTS = 20

export async function audit(stores: Stores, ledger: Ledger): Promise<Audit> {
  const businessIds = [...new Set(ledger.sendings.map(({ business }) => business.businessId))]
  return compare(ledger, await readHeld(stores, businessIds))
}

/** Pure: the ledger against what is held. */
export function compare(ledger: Ledger, held: Held): Audit {
  const facts = factsOf(ledger)
  const due = [...facts].filter(([, sendings]) => wasAcknowledged(sendings)).map(([fact]) => fact)
  const lost = due.filter(({ mark }) => !held.postgresMarks.has(mark) || !held.clickhouseMarks.has(mark))
  const doubled = [...facts.keys()].filter(
    ({ mark }) => (held.postgresMarks.get(mark) ?? 0) > 1 || (held.clickhouseMarks.get(mark) ?? 0) > 1,
  )
  const complaints = [
    ...lost.map(({ mark, event }) => `lost: ${event} ${mark} (${describe(facts, mark)})`),
    ...doubled.map(({ mark, event }) => `doubled: ${event} ${mark}`),
    ...checkPresence(facts, held),
    ...checkAnswers(facts, ledger, held),
    ...checkPeople(facts, ledger, held),
    ...ledger
      .attempts()
      .filter(({ outcome }) => outcome === 'rejected')
      .map(({ told }) => `a good request was rejected: ${told}`),
  ]
  const recorded = [...facts.keys()].filter(({ mark }) => held.postgresMarks.has(mark)).length
  return {
    acknowledged: due.length,
    recorded,
    lost: lost.length,
    doubled: doubled.length,
    complaints: shorten(complaints),
  }
}

type Facts = Map<Fact, Sending[]>

/** Each event with every request that carried it. */
function factsOf(ledger: Ledger): Facts {
  const facts: Facts = new Map()
  for (const sending of ledger.sendings)
    for (const fact of sending.facts.filter(({ valid }) => valid))
      facts.set(fact, [...(facts.get(fact) ?? []), sending])
  return facts
}

const attemptsOf = (sendings: Sending[]) => sendings.flatMap(({ attempts }) => attempts)

const wasAcknowledged = (sendings: Sending[]): boolean =>
  attemptsOf(sendings).some(({ outcome }) => outcome === 'answered' || outcome === 'queued')

/** Some attempt may have been applied without the client knowing what came of it. */
const mayBeSilent = (sendings: Sending[]): boolean =>
  attemptsOf(sendings).some(({ outcome }) => outcome === 'unknown' || outcome === 'queued')

function describe(facts: Facts, mark: string): string {
  const [, sendings] = [...facts].find(([fact]) => fact.mark === mark) ?? []
  return (sendings ?? [])
    .map(({ kind, attempts }) => `${kind}: ${attempts.map(({ told, sentAt }) => `${sentAt} ${told}`).join(', ')}`)
    .join('; ')
}

/** Nothing is there that was refused for good or never sent, and the two stores hold the same. */
function checkPresence(facts: Facts, { postgresMarks, clickhouseMarks }: Held): string[] {
  const sent = new Map([...facts].map(([fact, sendings]) => [fact.mark, sendings]))
  const unexplained = [...new Set([...postgresMarks.keys(), ...clickhouseMarks.keys()])].filter((mark) => {
    const sendings = sent.get(mark)
    return !sendings || !(wasAcknowledged(sendings) || mayBeSilent(sendings))
  })
  const apart = [...sent.keys()].filter((mark) => postgresMarks.has(mark) !== clickhouseMarks.has(mark))
  return [
    ...unexplained.map((mark) => `unexplained: ${mark} (${describe(facts, mark)})`),
    ...apart.map((mark) => `in one store only: ${mark}`),
  ]
}

function checkAnswers(facts: Facts, ledger: Ledger, held: Held): string[] {
  return [...checkDeduped(facts), ...checkBatches(ledger), ...checkMoney(ledger), ...checkContactIds(ledger, held)]
}

/** Of all answers for one key one is not `deduped`, unless that one may have gone elsewhere. */
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

/** A batch that was sent once and answered counts what it held. */
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
      // One repeat at most is in a batch.
      Number(deduped) <= 1
    return isWell ? [] : [`a batch of ${facts.length} (${failed} bad, ${known} known) says ${JSON.stringify(data)}`]
  })
}

/** What an answer says was counted is what was sent; nothing, when it is a repeat. */
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

/** Each contact was new once; the contact of an answer is, or was merged into, the one that has the identity now. */
function checkContactIds(ledger: Ledger, held: Held): string[] {
  const answers = ledger.sendings
    .filter(({ kind }) => kind !== 'batch')
    .flatMap((sending) => sending.attempts.map((attempt) => ({ sending, ...attempt })))
    .filter(({ outcome }) => outcome === 'answered')
  const misled = answers.filter(({ sending, data }) => {
    const { survivor } = held.contacts.get(data.contactId ?? '') ?? {}
    return sending.identity.some((one) => held.identities.get(`${sending.business.businessId} ${one}`) !== survivor)
  })
  const news = Map.groupBy(
    answers.filter(({ data }) => data.isNew),
    ({ data }) => data.contactId ?? '',
  )
  const silent = silentIdentities(ledger)
  const contacts = [...held.contacts].flatMap(([id, { survivor }]) => {
    const times = news.get(id)?.length ?? 0
    const madeSilently = [...held.identities].some(([name, contact]) => contact === survivor && silent.has(name))
    return times === 1 || (times === 0 && madeSilently) ? [] : [`contact ${id} was new in ${times} answers`]
  })
  return [
    ...misled.map(({ sending, data }) => `${sending.mark} was answered with ${data.contactId}, not its contact`),
    ...contacts,
  ]
}

/** Those that came by a road which does not tell `isNew`. */
function silentIdentities(ledger: Ledger): Set<string> {
  const names = ledger.sendings
    .filter((sending) => sending.kind === 'batch' || mayBeSilent([sending]))
    .flatMap(({ business, facts, identity }) =>
      [...identity, ...facts.flatMap((fact) => fact.identity)].map((one) => `${business.businessId} ${one}`),
    )
  return new Set(names)
}

/** Who is one person, and what they add up to. */
function checkPeople(facts: Facts, ledger: Ledger, held: Held): string[] {
  const recorded = [...facts.keys()].filter(({ mark }) => held.postgresMarks.has(mark))
  const identifies = ledger.sendings.filter(({ kind }) => kind === 'identify')
  const people = unite([
    ...recorded.map(({ businessId, identity }) => identity.map((one) => `${businessId} ${one}`)),
    ...identifies
      .filter(({ mark }) => held.identifications.has(mark))
      .map(({ business, identity }) => identity.map((one) => `${business.businessId} ${one}`)),
  ])
  const complaints = people.flatMap((names) => {
    const ids = new Set(names.map((name) => held.identities.get(name)))
    return ids.size === 1 && !ids.has(undefined) ? [] : [`${names.join(', ')} lie on ${[...ids].join(', ')}`]
  })
  const alive = [...held.contacts].filter(([id, { survivor }]) => id === survivor)
  if (alive.length !== people.length) complaints.push(`${alive.length} contacts are there for ${people.length} people`)
  const expected = addUp(recorded, (fact) => held.identities.get(`${fact.businessId} ${fact.identity[0]}`) ?? 'nobody')
  for (const [store, actual] of Object.entries({ Postgres: held.postgresSums, ClickHouse: held.clickhouseSums }))
    complaints.push(...differences(expected, actual).map((difference) => `${store}: ${difference}`))
  complaints.push(
    ...differences(
      addUp(recorded, (fact) => fact.businessId, false),
      held.clickhouseRevenue,
    ),
  )
  return [...complaints, ...checkIdentifies(identifies, held)]
}

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

/** `owner what` → amounts in whole numbers. */
export type Sums = Map<string, string>

/** Count, first and last of each event; revenue per currency; orders. Of contacts, or (without events) of businesses. */
function addUp(facts: Fact[], ownerOf: (fact: Fact) => string, withEvents = true): Sums {
  const sums: Sums = new Map()
  for (const [owner, own] of Map.groupBy(facts, ownerOf)) {
    for (const [event, same] of withEvents ? Map.groupBy(own, (fact) => fact.event) : []) {
      const times = same.map(({ occurredAt }) => occurredAt)
      sums.set(`${owner} event ${event}`, `${same.length} ${Math.min(...times)} ${Math.max(...times)}`)
    }
    for (const [currency, same] of Map.groupBy(own, (fact) => fact.currency ?? '')) {
      const cents = same.reduce((sum, fact) => sum + fact.cents, 0)
      if (cents !== 0) sums.set(`${owner} revenue ${currency}`, String(cents))
    }
    const orders = own.filter(({ order }) => order).length
    if (orders > 0) sums.set(`${owner} orders`, String(orders))
  }
  return sums
}

function differences(expected: Sums, actual: Sums): string[] {
  const names = [...new Set([...expected.keys(), ...actual.keys()])]
  return names
    .filter((name) => expected.get(name) !== actual.get(name))
    .map((name) => `${name} is ${actual.get(name)}, not ${expected.get(name)}`)
}

/** Each acknowledged identify is kept once; one of unknown outcome once or not at all. */
function checkIdentifies(identifies: Sending[], held: Held): string[] {
  return identifies.flatMap(({ mark, attempts }) => {
    const kept = held.identifications.get(mark) ?? 0
    const sure = attempts.filter(({ outcome }) => outcome === 'answered' || outcome === 'queued').length
    const perhaps = attempts.filter(({ outcome }) => outcome === 'unknown').length
    return kept >= sure && kept <= sure + perhaps
      ? []
      : [`identify ${mark} is kept ${kept} times, not ${sure} to ${sure + perhaps}`]
  })
}

function shorten(complaints: string[]): string[] {
  if (complaints.length <= MOST_COMPLAINTS) return complaints
  return [...complaints.slice(0, MOST_COMPLAINTS), `… and ${complaints.length - MOST_COMPLAINTS} more`]
}
