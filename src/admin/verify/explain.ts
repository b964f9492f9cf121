import type { Sql } from '../../stores/postgres.ts'
import type { CompareDeps, Different } from './compare-one-by-one.ts'
import { ask } from './clickhouse-facts.ts'
import { describeValue, type Difference } from './difference.ts'
import { findInOutbox } from './find-in-outbox.ts'
import { quoted } from '../../timeline/look-up-events.ts'

/** Ids told of one difference, and contacts of which those that Postgres does not know are looked for. */
const MOST_IDS = 10
const MOST_STRANGE = 100
/** What came in so lately may not be in the outbox that was walked through. */
const YOUNG_MS = 60_000

type DifferentFact = Different['facts'][number]

/** Each difference of these contacts, with what the kept outbox, the dead letters and ClickHouse know about it. */
export async function explain(deps: CompareDeps, different: Different[]): Promise<Difference[]> {
  const ids = await withMerged(
    deps.sql,
    different.filter(({ of }) => of === 'contact'),
  )
  const search = different.some(concernsEvents) ? await searchOutbox(deps, different, ids) : NOTHING
  const setAside = await countSetAside(deps.sql, [...ids.keys()])
  return different.flatMap((contact) =>
    contact.facts.map((fact) => {
      const key = `${contact.id} ${fact.name}`
      const lacking = fact.kind === 'events' ? (search.lacking.get(key) ?? []) : []
      const strange = fact.kind === 'events' ? (search.strange.get(key) ?? []) : []
      const eventIds = [...lacking, ...strange].slice(0, MOST_IDS)
      return {
        kind: fact.kind,
        businessId: contact.businessId,
        contactId: contact.of === 'contact' ? contact.id : null,
        name: contact.of === 'visitor' ? contact.id : fact.name,
        postgres: fact.postgres === null ? null : describeValue(fact.kind, fact.postgres),
        clickhouse: fact.clickhouse === null ? null : describeValue(fact.kind, fact.clickhouse),
        note: contact.isKnown
          ? noteOf(fact, lacking.length, setAside.get(contact.id) ?? 0)
          : `Postgres does not know this ${contact.of}`,
        ...(eventIds.length > 0 && { eventIds }),
      }
    }),
  )
}

/** What the outbox can help with: events that are missing, or there in another form. */
export const concernsEvents = ({ facts }: Different): boolean =>
  facts.some(({ kind }) => ['events', 'revenue', 'orders', 'doubled'].includes(kind))

/** Every id that events of these contacts may bear, with the contact. */
export async function withMerged(sql: Sql, different: Different[]): Promise<Map<string, string>> {
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

/** By contact and event: ids that ClickHouse lacks, and ids that Postgres does not know. */
interface Search {
  lacking: Map<string, string[]>
  strange: Map<string, string[]>
}

const NOTHING: Search = { lacking: new Map(), strange: new Map() }

async function searchOutbox(deps: CompareDeps, different: Different[], ids: Map<string, string>): Promise<Search> {
  const startedAt = Date.now()
  const known = new Set<string>()
  const lacking = new Map<string, Set<string>>()
  for await (const rows of findInOutbox(deps, [...ids.keys()])) {
    for (const row of rows.flatMap(({ events }) => events)) known.add(row.event_id)
    for (const { contact_id, event, event_id } of rows.flatMap((row) => row.lacking)) {
      const key = `${ids.get(contact_id)} ${event}`
      lacking.set(key, (lacking.get(key) ?? new Set()).add(event_id))
    }
  }
  const strange = await findStrange(deps, different, ids, known, startedAt - YOUNG_MS)
  return { lacking: new Map([...lacking].map(([key, events]) => [key, [...events]])), strange }
}

/** Of contacts with more events than Postgres knows: events of a time that the outbox covers, and that it does not hold. */
async function findStrange(
  deps: CompareDeps,
  different: Different[],
  ids: Map<string, string>,
  known: Set<string>,
  before: number,
): Promise<Search['strange']> {
  const rich = new Set(
    different
      .filter(hasMore)
      .map(({ id }) => id)
      .slice(0, MOST_STRANGE),
  )
  const theirs = [...ids].filter(([, contact]) => rich.has(contact)).map(([id]) => id)
  const [kept] = await deps.sql<{ since: number | null }[]>`
    select (extract(epoch from min(shipped_at)) * 1000)::bigint as since from outbox where shipped_at is not null`
  if (theirs.length === 0 || typeof kept?.since !== 'number') return NOTHING.strange
  const rows = await ask<{ contact_id: string; event: string; event_id: string }>(
    deps.clickhouse,
    `select contact_id, event, event_id from events
    where business_id in (${quoted(different.map(({ businessId }) => businessId))}) and contact_id in (${quoted(theirs)})
      and received_ms >= ${kept.since} and received_ms < ${before}
    limit 10000`,
  )
  const strange = rows.filter(({ event_id }) => !known.has(event_id))
  const byKey = Map.groupBy(strange, ({ contact_id, event }) => `${ids.get(contact_id)} ${event}`)
  return new Map([...byKey].map(([key, events]) => [key, events.map(({ event_id }) => event_id)]))
}

const countOf = (value: string | null): number => Number(value?.split(' ')[0] ?? 0)

const hasMore = ({ facts }: Different): boolean =>
  facts.some(({ kind, postgres, clickhouse }) => kind === 'events' && countOf(clickhouse) > countOf(postgres))

/** Events that ClickHouse could not read are dead letters: Postgres counts them, and no timeline will have them. */
async function countSetAside(sql: Sql, contactIds: string[]): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; letters: number }[]>`
    select contact_id as id, count(*)::int as letters from dead_letters
    where kind = 'timeline' and contact_id = any(${`{${contactIds.join(',')}}`}::uuid[]) group by contact_id`
  return new Map(rows.map(({ id, letters }) => [id, letters]))
}

function noteOf(fact: DifferentFact, inOutbox: number, setAside: number): string {
  if (fact.kind === 'events') return noteOfEvents(countOf(fact.postgres) - countOf(fact.clickhouse), inOutbox, setAside)
  if (fact.kind === 'contact' || fact.kind === 'visitor') return noteOfState(fact)
  if (fact.kind === 'merge') return 'the timeline of the one is not yet the timeline of the other there'
  if (fact.kind === 'doubled') return 'its events are there, and copies of them'
  return ''
}

function noteOfEvents(missing: number, inOutbox: number, setAside: number): string {
  if (missing < 0) return `${-missing} that Postgres does not know`
  if (missing === 0) return inOutbox > 0 ? `${inOutbox} are there otherwise than in the outbox` : 'other times'
  const older = missing - inOutbox - setAside
  return [
    `${missing} missing`,
    ...(inOutbox > 0 ? [`${inOutbox} of them still in the outbox`] : []),
    ...(setAside > 0 ? [`${setAside} set aside as dead letters`] : []),
    ...(older > 0 ? [`${older} older than the outbox keeps`] : []),
  ].join(', ')
}

function noteOfState({ postgres, clickhouse }: DifferentFact): string {
  if (clickhouse === null) return 'no snapshot'
  const behind = countOf(postgres) - countOf(clickhouse)
  if (behind > 0) return 'the snapshot is old'
  if (behind < 0) return 'the snapshot is newer than Postgres, which may have come back from a backup'
  return 'one revision, and not the same content'
}
