/** The ledger by event: each event with every request that carried it. */
import { type Attempt, type Fact, type Ledger, type Sending, isAcknowledged } from '../ledger.ts'
import type { Held, Recorded } from '../read-held.ts'

export type Facts = Map<Fact, Sending[]>

/** Returns the events that the product must accept. */
export function factsOf(ledger: Ledger): Facts {
  const facts: Facts = new Map()
  for (const sending of ledger.sendings)
    for (const fact of sending.facts.filter(({ valid }) => valid))
      facts.set(fact, [...(facts.get(fact) ?? []), sending])
  return facts
}

export const attemptsOf = (sendings: Sending[]): Attempt[] => sendings.flatMap(({ attempts }) => attempts)

export const wasAcknowledged = (sendings: Sending[]): boolean => sendings.some(isAcknowledged)

/** Whether some attempt may have been applied without the client knowing the outcome. */
export const mayBeSilent = (sendings: Sending[]): boolean =>
  attemptsOf(sendings).some(({ outcome }) => outcome === 'unknown' || outcome === 'queued')

/** An event in Postgres, with its time and its present owner. */
export interface RecordedFact {
  fact: Fact
  recorded: Recorded
  occurredAt: number
  owner: string
}

/**
 * Takes everything from the ledger that does not depend on how the product recorded it, and the rest from the record.
 */
export function recordedFacts(facts: Facts, held: Held): RecordedFact[] {
  return [...facts.keys()].flatMap((fact) => {
    const recorded = held.postgresMarks.get(fact.mark)
    if (!recorded) return []
    const owner = held.identities.get(`${fact.businessId} ${fact.identity[0]}`)?.contactId ?? 'nobody'
    return [{ fact, recorded, owner, occurredAt: fact.occurredAt ?? recorded.receivedAt }]
  })
}

/** Describes the attempts to send one event, for a complaint. */
export function describe(facts: Facts, mark: string): string {
  const [, sendings] = [...facts].find(([fact]) => fact.mark === mark) ?? []
  return (sendings ?? [])
    .map(({ kind, attempts }) => `${kind}: ${attempts.map(({ answer, sentAt }) => `${sentAt} ${answer}`).join(', ')}`)
    .join('; ')
}
