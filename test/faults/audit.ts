/**
 * Derives the expected state from the ledger alone, and compares it with the content of the stores. Does not depend on
 * how the product works.
 */
import { checkSums } from './audit/add-up.ts'
import { checkAnswers } from './audit/check-answers.ts'
import { checkCampaigns } from './audit/check-campaigns.ts'
import { checkPeople } from './audit/check-people.ts'
import { checkPresence, findDoubled, findLost } from './audit/check-presence.ts'
import { checkUnkeyed } from './audit/check-unkeyed.ts'
import { describe, factsOf, recordedFacts, wasAcknowledged } from './audit/facts.ts'
import { groupPeople } from './audit/group-people.ts'
import type { Business } from './create-businesses.ts'
import type { Ledger } from './ledger.ts'
import { type Held, type Stores, readHeld } from './read-held.ts'

export interface Audit {
  /** Events that were answered with 200 or 202. */
  acknowledged: number
  /** Events that are in Postgres. */
  recorded: number
  lost: number
  doubled: number
  /** Descriptions of all faults; empty when there are none. */
  complaints: string[]
}

const MOST_COMPLAINTS = 20

export async function audit(stores: Stores, ledger: Ledger): Promise<Audit> {
  return compare(ledger, await readHeld(stores, idsOf(businessesOf(ledger))))
}

/** Compares the ledger with the content of the stores. Does no I/O. */
export function compare(ledger: Ledger, held: Held): Audit {
  const facts = factsOf(ledger)
  const recorded = recordedFacts(facts, held)
  const identifies = ledger.sendings.filter(({ kind }) => kind === 'identify')
  const people = groupPeople(recorded, identifies, held)
  const lost = findLost(facts, held)
  const doubled = findDoubled(facts, held)
  const complaints = [
    ...lost.map(({ mark, event }) => `lost: ${event} ${mark} (${describe(facts, mark)})`),
    ...doubled.map(({ mark, event }) => `doubled: ${event} ${mark}`),
    ...checkPresence(facts, held),
    ...checkAnswers(facts, ledger, people, held),
    ...checkPeople(people, identifies, held),
    ...checkUnkeyed(people, identifies, held),
    ...checkSums(recorded, identifies, held),
    ...checkCampaigns(businessesOf(ledger), recorded, held),
    ...ledger
      .attempts()
      .filter(({ outcome }) => outcome === 'rejected')
      .map(({ answer }) => `a good request was rejected: ${answer}`),
  ]
  return {
    acknowledged: [...facts.values()].filter(wasAcknowledged).length,
    recorded: recorded.length,
    lost: lost.length,
    doubled: doubled.length,
    complaints: shorten(complaints),
  }
}

const businessesOf = (ledger: Ledger): Business[] => [...new Set(ledger.sendings.map(({ business }) => business))]

const idsOf = (businesses: Business[]): string[] => [...new Set(businesses.map(({ businessId }) => businessId))]

function shorten(complaints: string[]): string[] {
  if (complaints.length <= MOST_COMPLAINTS) return complaints
  return [...complaints.slice(0, MOST_COMPLAINTS), `… and ${complaints.length - MOST_COMPLAINTS} more`]
}
