/** Names of events and tags that a business has used. */
import { createTtlCache } from '../async/ttl-cache.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import { nullOnTimeout, selectWithinLimits } from '../timeline/reading/select-within-limits.ts'

export interface NameDeps {
  sql: Sql
  clickhouse: ClickHouseClient
}

export interface NameQuery {
  businessId: string
  /** Part of the name, ignoring case. Empty: any name. */
  query: string
  limit: number
}

/**
 * Number of the newest contacts whose names are read from Postgres. They have the names that have just arrived, and are
 * the only source while ClickHouse is away.
 */
const NEWEST_CONTACTS = 500
/** A person who types in a search field sends several requests within this time. */
const KEPT = { ms: 5000, max: 500 }
const events = createTtlCache<string[] | null>(KEPT)
const tags = createTtlCache<string[] | null>(KEPT)

/** Returns the most frequent event names, in alphabetical order. */
export async function listEventNames(deps: NameDeps, query: NameQuery): Promise<string[]> {
  const [frequent, recent] = await Promise.all([
    readOnce(
      events,
      deps,
      query,
      `select event as name, sum(count) as times from event_statistics
      where business_id = {businessId: UUID} and ${MATCHES('event')} group by name`,
    ),
    deps.sql<{ name: string }[]>`
      select distinct s.event as name from ${newestOf(deps.sql, query.businessId)} c
      join event_statistics s on s.business_id = ${query.businessId} and s.contact_id = c.id`,
  ])
  return unite(frequent, recent, query)
}

/** Returns the most frequent tags, in alphabetical order. */
export async function listTags(deps: NameDeps, query: NameQuery): Promise<string[]> {
  const [frequent, recent] = await Promise.all([
    readOnce(
      tags,
      deps,
      query,
      `select arrayJoin(tags) as name, count() as times from contact_snapshots final
      where business_id = {businessId: UUID} and merged_into is null and erased = 0 and ${MATCHES('name')} group by name`,
    ),
    deps.sql<{ name: string }[]>`
      select distinct tag as name from ${newestOf(deps.sql, query.businessId)} c, unnest(c.tags) as tag`,
  ])
  return unite(frequent, recent, query)
}

const MATCHES = (name: string) => `({query: String} = '' or positionCaseInsensitiveUTF8(${name}, {query: String}) > 0)`

const newestOf = (sql: Sql, businessId: string) => sql`(
  select id, tags from contacts where array[business_id] = array[${businessId}::uuid] and merged_into is null
  order by created_at desc, id desc limit ${NEWEST_CONTACTS}
)`

/**
 * Returns null when ClickHouse does not answer in time. An empty list is not cached, because the first event may arrive
 * at any moment.
 */
async function readOnce(
  cache: typeof events,
  { clickhouse }: NameDeps,
  { businessId, query, limit }: NameQuery,
  counted: string,
): Promise<string[]> {
  const names = await cache(`${businessId} ${limit} ${query}`, () =>
    nullOnTimeout(async (signal) => {
      const statement = `${counted} order by times desc, name limit {limit: UInt32}`
      const rows = await selectWithinLimits<{ name: string }>(
        clickhouse,
        statement,
        { businessId, query, limit },
        signal,
      )
      return rows.length === 0 ? null : rows.map(({ name }) => name)
    }),
  )
  return names ?? []
}

function unite(frequent: string[], recent: { name: string }[], { query, limit }: NameQuery): string[] {
  const sought = query.toLowerCase()
  const found = recent.map(({ name }) => name).filter((name) => name.toLowerCase().includes(sought))
  return [...new Set([...frequent, ...found])].slice(0, limit).toSorted((a, b) => (a < b ? -1 : 1))
}
