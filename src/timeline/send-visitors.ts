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
  }
}

type Touched = Pick<VisitorRow, 'business_id' | 'visitor_id'>

async function readTouched(sql: Sql, groupId: string): Promise<Touched[]> {
  return await sql<Touched[]>`
    select distinct t.business_id, t.visitor_id
    from outbox o, unnest(o.visitor_business_ids, o.visitor_ids) as t (business_id, visitor_id)
    where o.group_id = ${groupId} and o.shipped_at is null`
}

async function readVisitors(sql: Sql, touched: Touched[]): Promise<VisitorRow[]> {
  return await sql<VisitorRow[]>`
    select v.business_id, v.visitor_id, v.revision, v.first_seen_at as first_seen_ms, v.last_seen_at as last_seen_ms,
      v.first_touch, v.latest_touch
    from json_to_recordset(${JSON.stringify(touched)}::text::json) as t (business_id uuid, visitor_id text)
    join visitors v on v.business_id = t.business_id and v.visitor_id = t.visitor_id`
}

function stateOf({ first_touch, latest_touch, ...visitor }: VisitorRow): string {
  return JSON.stringify({
    ...visitor,
    erased: 0,
    ...prefixed('first', first_touch),
    ...prefixed('latest', latest_touch),
  })
}

const prefixed = (which: 'first' | 'latest', touch: Touch | null) =>
  Object.fromEntries(Object.entries(touch ? columnsOf(touch) : {}).map(([name, said]) => [`${which}_${name}`, said]))
