import type { Touch } from '../rules/facts.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import { insertStates } from './insert-states.ts'
import { columnsOf } from './send-touches.ts'

/** Visitors read and inserted at once. */
const PAGE = 2000

interface VisitorRow {
  business_id: string
  visitor_id: string
  revision: number
  first_seen_ms: number | null
  last_seen_ms: number | null
  first_touch: Touch | null
  latest_touch: Touch | null
  /** [from_ms, contact_id, null for an erased one]; null when whose it is did not change. */
  links: [number, string | null][] | null
}

/** Sends the present state of every visitor that a group touched, as `sendSnapshots` does of contacts. */
export async function sendVisitors(
  { sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient },
  groupId: string,
  signal?: AbortSignal,
): Promise<void> {
  const touched = await readTouched(sql, groupId)
  for (let at = 0; at < touched.length; at += PAGE) {
    const visitors = await readVisitors(sql, touched.slice(at, at + PAGE))
    await insertStates(clickhouse, 'visitors', visitors.map(stateOf), signal)
    await insertStates(clickhouse, 'visitor_links', visitors.flatMap(linksOf), signal)
  }
}

type Touched = Pick<VisitorRow, 'business_id' | 'visitor_id'> & { linked: boolean }

async function readTouched(sql: Sql, groupId: string): Promise<Touched[]> {
  return await sql<Touched[]>`
    select t.business_id, t.visitor_id, bool_or(t.linked) as linked
    from outbox o, unnest(o.visitor_business_ids, o.visitor_ids, o.visitor_linked) as t (business_id, visitor_id, linked)
    where o.group_id = ${groupId} and o.shipped_at is null
    group by t.business_id, t.visitor_id`
}

async function readVisitors(sql: Sql, touched: Touched[]): Promise<VisitorRow[]> {
  return await sql<VisitorRow[]>`
    select v.business_id, v.visitor_id, v.revision, v.first_seen_at as first_seen_ms, v.last_seen_at as last_seen_ms,
      v.first_touch, v.latest_touch,
      case when t.linked then (
        select json_agg(json_build_array(l.from_at, l.contact_id))
        from visitor_links l where l.business_id = v.business_id and l.visitor_id = v.visitor_id
      ) end as links
    from json_to_recordset(${JSON.stringify(touched)}::text::json) as t (business_id uuid, visitor_id text, linked boolean)
    join visitors v on v.business_id = t.business_id and v.visitor_id = t.visitor_id`
}

function stateOf({ first_touch, latest_touch, links: _, ...visitor }: VisitorRow): string {
  return JSON.stringify({
    ...visitor,
    erased: 0,
    ...prefixed('first', first_touch),
    ...prefixed('latest', latest_touch),
  })
}

const prefixed = (which: 'first' | 'latest', touch: Touch | null) =>
  Object.fromEntries(Object.entries(touch ? columnsOf(touch) : {}).map(([name, said]) => [`${which}_${name}`, said]))

function linksOf({ business_id, visitor_id, revision, links }: VisitorRow): string[] {
  return (links ?? []).map(([from_ms, contact_id]) =>
    JSON.stringify(
      contact_id === null
        ? { business_id, visitor_id, from_ms, revision, erased: 1 }
        : { business_id, visitor_id, from_ms, contact_id, revision, erased: 0 },
    ),
  )
}
