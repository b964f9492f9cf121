import type { Sql } from '../../stores/postgres.ts'
import type { CompareDeps, Different } from './compare-one-by-one.ts'
import { describeValue, type Difference } from './difference.ts'
import { type Ahead, findAhead } from './find-ahead.ts'
import { findInOutbox } from './find-in-outbox.ts'
import { type Correction, diagnosePostgres } from './diagnose-postgres.ts'

/** The most event ids that are listed for one difference. */
const MAX_IDS = 10

type DifferentFact = Different['facts'][number]

/** Each difference of these contacts and visitors, with what the outbox, the dead letters and ClickHouse show about it. */
export async function describeDifferences(deps: CompareDeps, different: Different[]): Promise<Difference[]> {
  const ids = await withMergedIds(
    deps.sql,
    different.filter(({ subject }) => subject === 'contact'),
  )
  const allLacking = different.some(concernsEvents) ? await searchOutbox(deps, ids) : new Map<string, string[]>()
  const setAside = await countSetAside(deps.sql, [...ids.keys()])
  const { ahead, corrections } = await diagnoseEach(deps, different)
  return different.flatMap((contact) =>
    contact.facts.map((fact) => {
      const key = `${contact.id} ${fact.name}`
      const lacking = fact.kind === 'events' ? (allLacking.get(key) ?? []) : []
      const isAhead = ahead.get(contact.id)
      const eventIds = [...lacking, ...lostOf(fact, isAhead)].slice(0, MAX_IDS)
      const reason = reasonToCorrect(fact, corrections.get(contact.id))
      const wrong = reason ? 'postgres' : contact.isKnown ? wrongOf(fact, contact.facts) : undefined
      return {
        kind: fact.kind,
        businessId: contact.businessId,
        contactId: contact.subject === 'contact' ? contact.id : null,
        name: contact.subject === 'visitor' ? contact.id : fact.name,
        postgres: fact.postgres === null ? null : describeValue(fact.kind, fact.postgres),
        clickhouse: fact.clickhouse === null ? null : describeValue(fact.kind, fact.clickhouse),
        note: contact.isKnown
          ? (reason ?? noteOfAhead(fact, isAhead) ?? noteOf(fact, lacking.length, setAside.get(contact.id) ?? 0))
          : `Postgres does not know this ${contact.subject}`,
        ...(wrong && { wrong }),
        ...((isAhead || !contact.isKnown) && { isAhead: true as const }),
        ...(eventIds.length > 0 && { eventIds }),
      }
    }),
  )
}

/** By contact. A contact of which ClickHouse is ahead was lost in Postgres, not altered, so it has no correction. */
interface Diagnosis {
  ahead: Map<string, Ahead>
  corrections: Map<string, Correction>
}

async function diagnoseEach(deps: CompareDeps, different: Different[]): Promise<Diagnosis> {
  const diagnosis: Diagnosis = { ahead: new Map(), corrections: new Map() }
  for (const [businessId, ofBusiness] of Map.groupBy(different, (one) => one.businessId)) {
    const ahead = await findAhead(deps, businessId, ofBusiness)
    for (const [id, one] of ahead) diagnosis.ahead.set(id, one)
    const others = ofBusiness.filter(({ id }) => !ahead.has(id))
    for (const one of await diagnosePostgres(deps, others)) diagnosis.corrections.set(one.id, one)
  }
  return diagnosis
}

function lostOf({ kind, name }: DifferentFact, ahead: Ahead | undefined): string[] {
  if (kind !== 'events' || !ahead) return []
  return ahead.events.filter(({ event }) => event === name).map(({ event_id }) => event_id)
}

function noteOfAhead({ kind }: DifferentFact, ahead: Ahead | undefined): string | undefined {
  if (ahead?.reason === 'erased') return 'was erased in ClickHouse, but is in Postgres'
  return ahead?.reason === 'merged' && kind === 'merge' ? 'Postgres does not have this merge' : undefined
}

/** The reason why Postgres is wrong; undefined when it is not known to be wrong. */
function reasonToCorrect({ kind, name }: DifferentFact, correction: Correction | undefined): string | undefined {
  if (!correction) return undefined
  if (kind === 'events' || kind === 'statistics')
    return correction.statistics.some(({ event }) => event === name)
      ? 'Postgres is wrong: the timeline and its statistics agree'
      : undefined
  const isAmount = kind === 'revenue' && correction.revenue.some(({ currency }) => currency === name)
  if (isAmount || (kind === 'orders' && correction.orders !== null))
    return 'Postgres is wrong: the timeline and the snapshot agree'
  if (kind !== 'contact') return undefined
  return correction.identities.length > 0
    ? 'Postgres is wrong: it lacks an identity that the snapshot has'
    : 'Postgres is wrong: the timeline and the snapshot agree on revenue and orders'
}

/** `clickhouse` where ClickHouse is known to be wrong: it follows Postgres, or two of its own records disagree. */
function wrongOf(
  { kind, name, postgres, clickhouse }: DifferentFact,
  facts: DifferentFact[],
): 'clickhouse' | undefined {
  const isAlone = (other: 'events' | 'statistics') => !facts.some((fact) => fact.kind === other && fact.name === name)
  if (kind === 'events') return isAlone('statistics') ? 'clickhouse' : undefined
  if (kind === 'statistics') return isAlone('events') ? 'clickhouse' : undefined
  if (kind === 'doubled' || kind === 'merge') return 'clickhouse'
  if (kind === 'contact' || kind === 'visitor')
    return countOf(postgres) > countOf(clickhouse) ? 'clickhouse' : undefined
  return undefined
}

/** Differences that the outbox can repair: events that are missing, doubled or altered. */
export const concernsEvents = ({ facts }: Different): boolean =>
  facts.some(({ kind }) => ['events', 'revenue', 'orders', 'doubled'].includes(kind))

/** Every contact id that events of these contacts may have, with the surviving contact. */
export async function withMergedIds(sql: Sql, different: Different[]): Promise<Map<string, string>> {
  const list = `{${different.map(({ id }) => id).join(',')}}`
  const businesses = `{${[...new Set(different.map(({ businessId }) => businessId))].join(',')}}`
  const merged = await sql<{ id: string; survivor: string }[]>`
    select id, merged_into as survivor from contacts
    where business_id = any(${businesses}::uuid[]) and merged_into = any(${list}::uuid[])`
  return new Map([
    ...different.map(({ id }) => [id, id] as const),
    ...merged.map(({ id, survivor }) => [id, survivor] as const),
  ])
}

/** The ids of events that ClickHouse lacks, by contact and event name. */
async function searchOutbox(deps: CompareDeps, ids: Map<string, string>): Promise<Map<string, string[]>> {
  const lacking = new Map<string, Set<string>>()
  for await (const rows of findInOutbox(deps, [...ids.keys()]))
    for (const { contact_id, event, event_id } of rows.flatMap((row) => row.lacking)) {
      const key = `${ids.get(contact_id)} ${event}`
      lacking.set(key, (lacking.get(key) ?? new Set()).add(event_id))
    }
  return new Map([...lacking].map(([key, events]) => [key, [...events]]))
}

const countOf = (value: string | null): number => Number(value?.split(' ')[0] ?? 0)

/** Counts events that ClickHouse could not read and that became dead letters: Postgres counts them, but no timeline gets them. */
async function countSetAside(sql: Sql, contactIds: string[]): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; letters: number }[]>`
    select contact_id as id, count(*)::int as letters from dead_letters
    where kind = 'timeline' and contact_id = any(${`{${contactIds.join(',')}}`}::uuid[]) group by contact_id`
  return new Map(rows.map(({ id, letters }) => [id, letters]))
}

function noteOf(fact: DifferentFact, inOutbox: number, setAside: number): string {
  if (fact.kind === 'events') return noteOfEvents(countOf(fact.postgres) - countOf(fact.clickhouse), inOutbox, setAside)
  if (fact.kind === 'contact' || fact.kind === 'visitor') return noteOfState(fact)
  if (fact.kind === 'merge') return 'ClickHouse has not merged their timelines'
  if (fact.kind === 'doubled') return 'ClickHouse has copies of its events'
  return ''
}

function noteOfEvents(missing: number, inOutbox: number, setAside: number): string {
  if (missing < 0) return `${-missing} that Postgres does not have`
  if (missing === 0) return inOutbox > 0 ? `${inOutbox} differ from those in the outbox` : 'the times differ'
  const older = missing - inOutbox - setAside
  return [
    `${missing} missing`,
    ...(inOutbox > 0 ? [`${inOutbox} of them still in the outbox`] : []),
    ...(setAside > 0 ? [`${setAside} set aside as dead letters`] : []),
    ...(older > 0 ? [`${older} older than the outbox`] : []),
  ].join(', ')
}

function noteOfState({ postgres, clickhouse }: DifferentFact): string {
  if (clickhouse === null) return 'no snapshot'
  const behind = countOf(postgres) - countOf(clickhouse)
  if (behind > 0) return 'the snapshot is old'
  if (behind < 0) return 'the snapshot is newer than Postgres; perhaps Postgres was restored from a backup'
  return 'the same revision, but different content'
}
