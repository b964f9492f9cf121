/**
 * A person whose erasure is recorded as finished must have nothing left in any store, except the mark that hides them.
 * Other data of theirs in Postgres is found by check-postgres.ts, because all data must belong to an existing contact.
 */
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { quoted } from '../../outbox/look-up-events.ts'
import { findLeftoverBrowsers, type Leftover } from './find-leftover-browsers.ts'
import type { BusinessKind, CompareDeps, Fragment } from './kind.ts'
import { confirmDifferences } from './confirm-differences.ts'
import { queryClickHouse } from './query-clickhouse.ts'

/** Erased ids per query. */
const PAGE = 500
const PATIENCE = { sightings: 3, attempts: 3, pauseMs: 200 }
/** Outbox rows that one statement reads. */
const CHUNK_ROWS = 10_000

interface NotErased {
  contactId: string
  places: string[]
  isInClickHouse: boolean
}

export const ERASURE: BusinessKind<NotErased> = {
  name: 'erasure',
  part: 'erasures',
  async *find(deps, businessId) {
    for (let after = '00000000-0000-0000-0000-000000000000'; !deps.signal.aborted;) {
      const ids = await listFinished(deps.sql, businessId, deps.sql`contact_id > ${after}`)
      const last = ids.at(-1)
      if (last === undefined) return
      const { confirmed } = await confirmDifferences(deps.signal, PATIENCE, async (left) => {
        // Excludes erasures that a repair is repeating, because they are not finished now.
        const still = left && deps.sql`contact_id = any(${`{${left.join(',')}}`}::uuid[])`
        const finished = still ? await listFinished(deps.sql, businessId, still) : ids
        return { differing: finished.length > 0 ? await findLeftovers(deps, businessId, finished) : [] }
      })
      yield { items: confirmed }
      after = last
    }
  },
  describe: ({ contactId, places, isInClickHouse }) => ({
    contactId,
    name: places.join(', '),
    postgres: 'erased',
    clickhouse: isInClickHouse ? 'not erased' : null,
  }),
  /** Makes the shipper repeat erasures, including the captures of these people's browsers. */
  async repair({ writer }, businessId, left) {
    const [row] = await writer<{ erasures: number }[]>`
      with again as (
        update erasures set scrubbed_at = null, hidden_at = null, deleted_at = null
        where business_id = ${businessId} and deleted_at is not null
          and contact_id = any(${`{${left.map(({ contactId }) => contactId).join(',')}}`}::uuid[])
        returning visitor_ids || shared_visitor_ids as browsers
      ), visits as (
        update erased_visits set behind = null, deleted_at = null, swept_at = null
        where business_id = ${businessId} and visitor_id in (select unnest(browsers) from again)
      )
      select count(*)::int as erasures from again`
    return { erasures: row?.erasures ?? 0 }
  },
}

async function listFinished(sql: Sql, businessId: string, condition: Fragment): Promise<string[]> {
  const rows = await sql<{ contact_id: string }[]>`
    select contact_id from erasures where business_id = ${businessId} and ${condition} and deleted_at is not null
    order by contact_id limit ${PAGE}`
  return rows.map(({ contact_id }) => contact_id)
}

async function findLeftovers(deps: CompareDeps, businessId: string, ids: string[]): Promise<[string, NotErased][]> {
  const list = `{${ids.join(',')}}`
  const inPostgres = [
    ...(await findInTables(deps.sql, businessId, list)),
    ...(await findInOutbox(deps.sql, businessId, list)),
  ]
  const inClickHouse = [
    ...(await findInClickHouse(deps.clickhouse, businessId, ids)),
    ...(await findLeftoverBrowsers(deps, businessId, ids)),
  ]
  const isInClickHouse = new Set(inClickHouse.map(({ id }) => id))
  return [...Map.groupBy([...inPostgres, ...inClickHouse], ({ id }) => id)].map(([contactId, left]) => {
    const places = [...new Set(left.map(({ place }) => place))]
    return [contactId, { contactId, places, isInClickHouse: isInClickHouse.has(contactId) }]
  })
}

const findInTables = async (sql: Sql, businessId: string, list: string): Promise<Leftover[]> =>
  await sql<Leftover[]>`
    select distinct contact_id as id, 'dead letters' as place from dead_letters
    where business_id = ${businessId} and contact_id = any(${list}::uuid[])
    union all
    select distinct e.id, 'merge log' from unnest(${list}::uuid[]) as e (id)
    join merge_log l on l.business_id = ${businessId} and (l.contact_id = e.id or l.losing_id = e.id)`

/** Searches the outbox only if it still has rows from before one of the erasures. */
async function findInOutbox(sql: Sql, businessId: string, list: string): Promise<Leftover[]> {
  const [range] = await sql<{ first: number | null; last: number }[]>`
    select min(id) as first, max(id) as last from outbox
    where exists (
      select from erasures where business_id = ${businessId} and contact_id = any(${list}::uuid[])
        and erased_at >= (select created_at from outbox order by id limit 1)
    )`
  const found: Leftover[] = []
  if (typeof range?.first !== 'number') return found
  for (let from = range.first; from <= range.last; from += CHUNK_ROWS)
    found.push(
      ...(await sql<Leftover[]>`
        select distinct t.id, 'outbox' as place from outbox o, unnest(o.contact_ids) as t (id)
        where o.id >= ${from} and o.id < ${from + CHUNK_ROWS} and t.id = any(${list}::uuid[])`),
    )
  return found
}

async function findInClickHouse(clickhouse: ClickHouseClient, businessId: string, ids: string[]): Promise<Leftover[]> {
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
