import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import { queryClickHouse } from './clickhouse-facts.ts'

/** Browsers per query. */
const BATCH = 2000

/** A browser that an erased person used. */
interface Browser {
  contact_id: string
  visitor_id: string
  /** No other person ever used it. */
  own: boolean
  /** States with a lower revision contain data of the person. */
  revision: number
  /** [from, to) in epoch ms: events captured in this time are recorded as deleted. */
  visits: [number, number][]
}

/** Finds what ClickHouse still has of the browsers of people whose erasure is recorded as finished. */
export async function findLeftoverBrowsers(
  { sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient },
  businessId: string,
  contactIds: string[],
): Promise<Leftover[]> {
  const browsers = await readBrowsers(sql, businessId, contactIds)
  const left: Leftover[] = []
  for (let at = 0; at < browsers.length; at += BATCH) {
    const some = browsers.slice(at, at + BATCH)
    left.push(...(await findOldStates(clickhouse, businessId, some)), ...(await findHits(clickhouse, businessId, some)))
  }
  return left
}

async function readBrowsers(sql: Sql, businessId: string, contactIds: string[]): Promise<Browser[]> {
  return await sql<Browser[]>`
    select e.contact_id, b.visitor_id, b.own, e.visitor_revision as revision, coalesce((
      select json_agg(json_build_array(v.from_at, v.to_at)) from erased_visits v
      where v.business_id = e.business_id and v.visitor_id = b.visitor_id collate "C" and v.deleted_at is not null
    ), '[]') as visits
    from erasures e cross join lateral (
      select unnest(e.visitor_ids) as visitor_id, true as own union all select unnest(e.shared_visitor_ids), false
    ) b
    where e.business_id = ${businessId} and e.contact_id = any(${`{${contactIds.join(',')}}`}::uuid[])`
}

/** The links of a browser that other people used, too, stay, without a contact. */
async function findOldStates(
  clickhouse: ClickHouseClient,
  businessId: string,
  browsers: Browser[],
): Promise<Leftover[]> {
  const where = whereTheirs(businessId, browsers)
  const rows = await queryClickHouse<{ visitor_id: string; place: string; revision: string }>(
    clickhouse,
    `select visitor_id, place, toString(min(s.revision)) as revision from (
      select visitor_id, revision, 'visitors' as place from visitors where ${where} and erased = 0
      union all select visitor_id, revision, 'touches' from visitor_touches where ${where} and erased = 0
      union all select visitor_id, revision, 'links' from visitor_links where ${where}
    ) as s group by visitor_id, place`,
  )
  const held = Map.groupBy(rows, ({ visitor_id }) => visitor_id)
  return browsers.flatMap((browser) =>
    (held.get(browser.visitor_id) ?? [])
      .filter(({ place, revision }) => Number(revision) < browser.revision && (browser.own || place !== 'links'))
      .map(({ place }) => ({ id: browser.contact_id, place })),
  )
}

async function findHits(clickhouse: ClickHouseClient, businessId: string, browsers: Browser[]): Promise<Leftover[]> {
  const visits = browsers.flatMap(({ contact_id, visitor_id, visits: times }) =>
    times.map(([from, to]) => `('${contact_id}', ${textLiteral(visitor_id)}, ${from}, ${to})`),
  )
  if (visits.length === 0) return []
  return await queryClickHouse<Leftover>(
    clickhouse,
    `select distinct v.contact_id as id, 'web events' as place
    from (select visitor_id, occurred_ms from web_events where ${whereTheirs(businessId, browsers)}) as h
    join (
      select visit.1 as contact_id, visit.2 as visitor_id, visit.3 as from_ms, visit.4 as to_ms
      from (select arrayJoin([${visits.join(', ')}]) as visit)
    ) as v on v.visitor_id = h.visitor_id
    where h.occurred_ms >= v.from_ms and h.occurred_ms < v.to_ms`,
  )
}

const whereTheirs = (businessId: string, browsers: Browser[]): string =>
  `business_id = '${businessId}' and visitor_id in (${browsers.map(({ visitor_id }) => textLiteral(visitor_id)).join(', ')})`

export interface Leftover {
  /** The contact. */
  id: string
  place: string
}
