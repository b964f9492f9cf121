/**
 * Selects the value that counts among all values sent for a contact's trait (decisions, "Traits and custom fields").
 */
import type { Sending, Traits } from '../ledger.ts'
import type { Held } from '../read-held.ts'
import type { RecordedFact } from './facts.ts'

/** Time and JSON of a value; null when the trait was cleared. */
export type TraitEntry = [at: number, json: string | null]

/** Returns the value that counts, by `owner trait key`. */
export function newestTraits(recorded: RecordedFact[], identifies: Sending[], held: Held): Map<string, TraitEntry> {
  const newest = new Map<string, TraitEntry>()
  for (const { owner, at, traits } of [...ofEvents(recorded), ...ofIdentifies(identifies, held)])
    for (const [key, value] of Object.entries(traits)) {
      const entry: TraitEntry = [at, value === null ? null : JSON.stringify(value)]
      const name = `${owner} trait ${key}`
      const other = newest.get(name)
      if (!other || order(entry, other) > 0) newest.set(name, entry)
    }
  return newest
}

interface SentTraits {
  owner: string
  at: number
  traits: Traits
}

const ofEvents = (recorded: RecordedFact[]): SentTraits[] =>
  recorded.map(({ owner, occurredAt, fact }) => ({ owner, at: occurredAt, traits: fact.traits ?? {} }))

/** Uses each time at which the identify was received. */
function ofIdentifies(identifies: Sending[], { identities, identifications }: Held): SentTraits[] {
  return identifies.flatMap(({ business, identity, mark, unkeyed, traits = {} }) => {
    const owner = identities.get(`${business.businessId} ${identity[0]}`)?.contactId ?? 'nobody'
    const kept = unkeyed ? [] : (identifications.get(mark) ?? [])
    return kept.map(({ identifiedAt }) => ({ owner, at: identifiedAt, traits }))
  })
}

/**
 * The newer one wins; at the same time a value beats a clearing, and the greater value wins by the bytes of its JSON.
 */
function order([at, json]: TraitEntry, [otherAt, otherJson]: TraitEntry): number {
  if (at !== otherAt) return at - otherAt
  if (json === null || otherJson === null) return Number(json !== null) - Number(otherJson !== null)
  return Buffer.compare(Buffer.from(json), Buffer.from(otherJson))
}
