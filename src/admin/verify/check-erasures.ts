import { type Leftover, findLeftoverBrowsers } from './find-leftover-browsers.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { sleep } from '../../async/sleep.ts'
import { quoted } from '../../timeline/look-up-events.ts'
import { queryClickHouse } from './clickhouse-facts.ts'
import type { CompareDeps } from './compare-one-by-one.ts'
import type { Difference } from './difference.ts'
import { LEAST_ID } from './facts.ts'

/** Erased ids per query. */
const PAGE = 500
const SIGHTINGS = 3
const PAUSE_MS = 300
/** Outbox rows that one statement reads. */
const CHUNK_ROWS = 10_000

/** A person whose erasure is recorded as finished must have nothing left in any store, except the mark that hides them. */
export async function* checkErasures(deps: CompareDeps, businessId: string): AsyncGenerator<Difference[]> {
  for (let after = LEAST_ID; !deps.signal.aborted;) {
    const ids = await finishedErasures(deps.sql, businessId, after)
    const last = ids.at(-1)
    if (last === undefined) return
    yield await checkPage(deps, businessId, ids)
    after = last
  }
}

async function finishedErasures(sql: Sql, businessId: string, after: string): Promise<string[]> {
  const rows = await sql<{ contact_id: string }[]>`
    select contact_id from erasures
    where business_id = ${businessId} and contact_id > ${after} and deleted_at is not null
    order by contact_id limit ${PAGE}`
  return rows.map(({ contact_id }) => contact_id)
}

async function checkPage(deps: CompareDeps, businessId: string, ids: string[]): Promise<Difference[]> {
  let left = await findLeftovers(deps, businessId, ids)
  for (let sighting = 1; sighting < SIGHTINGS && left.length > 0; sighting += 1) {
    await sleep(PAUSE_MS, deps.signal)
    // An erasure that a repair is repeating is not finished now.
    const still = await finishedAmong(
      deps.sql,
      businessId,
      left.map(({ contactId }) => contactId ?? ''),
    )
    left = await findLeftovers(deps, businessId, still)
  }
  return left
}

async function finishedAmong(sql: Sql, businessId: string, ids: string[]): Promise<string[]> {
  const rows = await sql<{ contact_id: string }[]>`
    select contact_id from erasures
    where business_id = ${businessId} and contact_id = any(${`{${ids.join(',')}}`}::uuid[]) and deleted_at is not null`
  return rows.map(({ contact_id }) => contact_id)
}

async function findLeftovers(deps: CompareDeps, businessId: string, ids: string[]): Promise<Difference[]> {
  if (ids.length === 0) return []
  const inPostgres = await findLeftoversInPostgres(deps.sql, businessId, ids)
  const inClickHouse = [
    ...(await findLeftoversInClickHouse(deps.clickhouse, businessId, ids)),
    ...(await findLeftoverBrowsers(deps, businessId, ids)),
  ]
  const places = [...inPostgres, ...inClickHouse]
  return [...Map.groupBy(places, ({ id }) => id)].map(([contactId, left]) => ({
    kind: 'erasure',
    businessId,
    contactId,
    name: [...new Set(left.map(({ place }) => place))].join(', '),
    postgres: 'erased',
    clickhouse: inClickHouse.some(({ id }) => id === contactId) ? 'not erased' : null,
    note: '',
  }))
}

/** `check-postgres.ts` finds other data of erased contacts: all data must belong to an existing contact. */
async function findLeftoversInPostgres(sql: Sql, businessId: string, ids: string[]): Promise<Leftover[]> {
  const list = `{${ids.join(',')}}`
  const inTables = await sql<Leftover[]>`
    select distinct contact_id as id, 'dead letters' as place from dead_letters
    where business_id = ${businessId} and contact_id = any(${list}::uuid[])
    union all
    select distinct e.id, 'merge log' from unnest(${list}::uuid[]) as e (id)
    join merge_log l on l.business_id = ${businessId} and (l.contact_id = e.id or l.losing_id = e.id)`
  return [...inTables, ...(await findLeftoversInOutbox(sql, businessId, list))]
}

/** Searches the outbox only if it still has rows from before one of the erasures. */
async function findLeftoversInOutbox(sql: Sql, businessId: string, list: string): Promise<Leftover[]> {
  const [range] = await sql<{ first: number | null; last: number }[]>`
    select min(id) as first, max(id) as last from outbox
    where exists (
      select from erasures where business_id = ${businessId} and contact_id = any(${list}::uuid[])
        and erased_at >= (select created_at from outbox order by id limit 1)
    )`
  const found = new Set<string>()
  if (typeof range?.first !== 'number') return []
  for (let from = range.first; from <= range.last; from += CHUNK_ROWS) {
    const rows = await sql<{ id: string }[]>`
      select distinct t.id from outbox o, unnest(o.contact_ids) as t (id)
      where o.id >= ${from} and o.id < ${from + CHUNK_ROWS} and t.id = any(${list}::uuid[])`
    for (const { id } of rows) found.add(id)
  }
  return [...found].map((id) => ({ id, place: 'outbox' }))
}

async function findLeftoversInClickHouse(
  clickhouse: ClickHouseClient,
  businessId: string,
  ids: string[],
): Promise<Leftover[]> {
  const where = `business_id = '${businessId}' and contact_id in (${quoted(ids)})`
  const rows = await queryClickHouse<Leftover>(
    clickhouse,
    `select distinct toString(contact_id) as id, 'timeline' as place from events where ${where}
    union all select distinct toString(contact_id), 'statistics' from event_statistics where ${where}
    union all select distinct toString(contact_id), 'links' from visitor_links where ${where}
    union all select distinct toString(contact_id), 'snapshot' from contact_snapshots where ${where} and erased = 0
    union all select distinct toString(contact_id), 'mark' from contact_redirects final where ${where} and erased = 1
    union all select distinct toString(contact_id), 'mark of a snapshot' from contact_snapshots final where ${where} and erased = 1`,
  )
  const marked = (mark: string) => new Set(rows.filter(({ place }) => place === mark).map(({ id }) => id))
  const [marks, snapshots] = [marked('mark'), marked('mark of a snapshot')]
  const unmarked = ids.filter((id) => !marks.has(id) || !snapshots.has(id)).map((id) => ({ id, place: 'no mark' }))
  return [...rows.filter(({ place }) => !place.startsWith('mark')), ...unmarked]
}
