import { textLiteral } from '../../stores/clickhouse-literal.ts'
import type { CompareDeps } from './kind.ts'
import { queryClickHouse } from './query-clickhouse.ts'

/** Browsers per query. */
const BATCH = 2000

export interface Leftover {
  /** Id of the contact. */
  id: string
  place: string
}

/** A browser that an erased person used. */
interface Browser {
  contact_id: string
  visitor_id: string
  /** Whether no other person has ever used it. */
  own: boolean
  /** States with a lower revision contain data of the person. */
  revision: number
  /** [from, to) in epoch milliseconds: events captured in this time are recorded as deleted. */
  visits: [number, number][]
}

/** Finds data that ClickHouse still has about the browsers of people whose erasure is recorded as finished. */
export async function findLeftoverBrowsers(
  deps: CompareDeps,
  businessId: string,
  contactIds: string[],
): Promise<Leftover[]> {
  const browsers = await deps.sql<Browser[]>`
    select e.contact_id, b.visitor_id, b.own, e.visitor_revision as revision, coalesce((
      select json_agg(json_build_array(v.from_at, v.to_at)) from erased_visits v
      where v.business_id = e.business_id and v.visitor_id = b.visitor_id collate "C" and v.deleted_at is not null
    ), '[]') as visits
    from erasures e cross join lateral (
      select unnest(e.visitor_ids) as visitor_id, true as own union all select unnest(e.shared_visitor_ids), false
    ) b
    where e.business_id = ${businessId} and e.contact_id = any(${`{${contactIds.join(',')}}`}::uuid[])`
  const left: Leftover[] = []
  for (let at = 0; at < browsers.length; at += BATCH) {
    const some = browsers.slice(at, at + BATCH)
    const ids = some.map(({ visitor_id }) => textLiteral(visitor_id)).join(', ')
    const where = `business_id = '${businessId}' and visitor_id in (${ids})`
    left.push(...(await findOldStates(deps, where, some)), ...(await findHits(deps, where, some)))
  }
  return left
}

/** Finds old states. Links of a browser that other people used, too, remain without a contact. */
async function findOldStates({ clickhouse }: CompareDeps, where: string, browsers: Browser[]): Promise<Leftover[]> {
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

async function findHits({ clickhouse }: CompareDeps, where: string, browsers: Browser[]): Promise<Leftover[]> {
  const visits = browsers.flatMap(({ contact_id, visitor_id, visits: times }) =>
    times.map(([from, to]) => `('${contact_id}', ${textLiteral(visitor_id)}, ${from}, ${to})`),
  )
  if (visits.length === 0) return []
  return await queryClickHouse<Leftover>(
    clickhouse,
    `select distinct v.contact_id as id, 'web events' as place
    from (select visitor_id, occurred_ms from web_events where ${where}) as h
    join (
      select visit.1 as contact_id, visit.2 as visitor_id, visit.3 as from_ms, visit.4 as to_ms
      from (select arrayJoin([${visits.join(', ')}]) as visit)
    ) as v on v.visitor_id = h.visitor_id
    where h.occurred_ms >= v.from_ms and h.occurred_ms < v.to_ms`,
  )
}
