import { isRepairedBy } from './contact-kinds.ts'
import { type Correction, diagnosePostgres, findSetAside, reasonToCorrect } from './diagnose-postgres.ts'
import { type ClickHouseAhead, findClickHouseAhead } from './find-ahead.ts'
import { findInOutbox, withMergedIds } from './find-in-outbox.ts'
import type { CompareDeps, Difference, Different, DifferentFact } from './kind.ts'
import { FACT_KINDS } from './kinds.ts'

/** Maximum number of event ids to list for one difference. */
const MAX_IDS = 10

/** Evidence about contacts and visitors that differ, by id. */
interface Evidence {
  /**
   * Contacts of which ClickHouse is ahead. Postgres has lost data rather than been altered, so they have no correction.
   */
  ahead: Map<string, ClickHouseAhead>
  corrections: Map<string, Correction>
  /** Ids of events that the outbox has and ClickHouse lacks, by contact and event name. */
  lacking: Map<string, string[]>
  /** Events that became dead letters. */
  setAside: Map<string, unknown[]>
}

/**
 * Describes each difference of these contacts and visitors, with the evidence in the outbox, the dead letters and
 * ClickHouse.
 */
export async function describeDifferences(deps: CompareDeps, different: Different[]): Promise<Difference[]> {
  const evidence = await gatherEvidence(deps, different)
  return different.flatMap((one) => one.facts.map((fact) => describeFact(one, fact, evidence)))
}

async function gatherEvidence(deps: CompareDeps, different: Different[]): Promise<Evidence> {
  const contacts = different.filter(({ subject }) => subject === 'contact')
  const survivors = await withMergedIds(deps.sql, contacts)
  const keyOf = (id: string, name: string) => `${survivors.get(id)} ${name}`
  const lacking = new Map<string, Set<string>>()
  if (contacts.some((one) => isRepairedBy('outbox', one)))
    for await (const rows of findInOutbox(deps, [...survivors.keys()]))
      for (const { contact_id, event, event_id } of rows.flatMap((row) => row.lacking)) {
        const ids = lacking.get(keyOf(contact_id, event)) ?? new Set()
        lacking.set(keyOf(contact_id, event), ids.add(event_id))
      }
  const setAside = await findSetAside(deps.sql, [...survivors.keys()])
  const evidence: Evidence = {
    ahead: new Map(),
    corrections: new Map(),
    lacking: new Map([...lacking].map(([key, ids]) => [key, [...ids]])),
    setAside: Map.groupBy(setAside, ({ contact_id }) => contact_id),
  }
  for (const [businessId, ofBusiness] of Map.groupBy(contacts, (one) => one.businessId)) {
    const ahead = await findClickHouseAhead(deps, businessId, ofBusiness)
    for (const [id, one] of ahead) evidence.ahead.set(id, one)
    const others = ofBusiness.filter(({ id }) => !ahead.has(id))
    for (const one of await diagnosePostgres(deps, others)) evidence.corrections.set(one.id, one)
  }
  return evidence
}

function describeFact({ subject, id, businessId, isKnown, facts }: Different, fact: DifferentFact, evidence: Evidence) {
  const { kind, name } = fact
  const format = FACT_KINDS[kind]
  const isOfEvents = kind === 'events'
  const ahead = evidence.ahead.get(id)
  const lacking = isOfEvents ? (evidence.lacking.get(`${id} ${name}`) ?? []) : []
  const lost = isOfEvents ? (ahead?.events ?? []).filter(({ event }) => event === name) : []
  const eventIds = [...lacking, ...lost.map(({ event_id }) => event_id)].slice(0, MAX_IDS)
  const reason = reasonToCorrect(fact, evidence.corrections.get(id))
  const isStale = isKnown && format?.isStale?.(fact, facts) === true
  const valueOf = (value: string | null) => (value === null ? null : (format?.describe?.(value) ?? value))
  const ownNote = () => format?.note?.(fact, lacking.length, evidence.setAside.get(id)?.length ?? 0) ?? ''
  const difference: Difference = {
    kind,
    businessId,
    contactId: subject === 'contact' ? id : null,
    name: subject === 'contact' ? name : id,
    postgres: valueOf(fact.postgres),
    clickhouse: valueOf(fact.clickhouse),
    note: isKnown ? (reason ?? noteOfAhead(fact, ahead) ?? ownNote()) : `Postgres does not know this ${subject}`,
  }
  if (reason || isStale) difference.wrong = reason ? 'postgres' : 'clickhouse'
  if (ahead || !isKnown) difference.isAhead = true
  if (eventIds.length > 0) difference.eventIds = eventIds
  return difference
}

function noteOfAhead({ kind }: DifferentFact, ahead: ClickHouseAhead | undefined): string | undefined {
  if (ahead?.reason === 'erased') return 'was erased in ClickHouse, but is in Postgres'
  return ahead?.reason === 'merged' && kind === 'merge' ? 'Postgres does not have this merge' : undefined
}
