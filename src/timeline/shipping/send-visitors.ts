import type { Touch } from '../../rules/events/facts.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { sendStates } from './send-states.ts'
import { columnsOf } from './send-touches.ts'

interface VisitorRow {
  business_id: string
  visitor_id: string
  revision: number
  first_seen_ms: number | null
  last_seen_ms: number | null
  first_touch: Touch | null
  latest_touch: Touch | null
}

/** Sends the current state of every visitor that a group touched. */
export async function sendVisitors(
  deps: { sql: Sql; clickhouse: ClickHouseClient },
  groupId: string,
  signal?: AbortSignal,
): Promise<void> {
  await sendStates(deps, { table: 'visitors', maxRows: 2000, readTouched, readRows, encode }, groupId, signal)
}

type Touched = Pick<VisitorRow, 'business_id' | 'visitor_id'>

async function readTouched(sql: Sql, groupId: string): Promise<Touched[]> {
  return await sql<Touched[]>`
    select distinct t.business_id, t.visitor_id
    from outbox o, unnest(o.visitor_business_ids, o.visitor_ids) as t (business_id, visitor_id)
    where o.group_id = ${groupId} and o.shipped_at is null`
}

async function readRows(sql: Sql, touched: Touched[]): Promise<VisitorRow[]> {
  return await sql<VisitorRow[]>`
    select v.business_id, v.visitor_id, v.revision, v.first_seen_at as first_seen_ms, v.last_seen_at as last_seen_ms,
      v.first_touch, v.latest_touch
    from json_to_recordset(${JSON.stringify(touched)}::text::json) as t (business_id uuid, visitor_id text)
    join visitors v on v.business_id = t.business_id and v.visitor_id = t.visitor_id`
}

function encode({ first_touch, latest_touch, ...visitor }: VisitorRow): string {
  return JSON.stringify({
    ...visitor,
    erased: 0,
    ...prefixed('first', first_touch),
    ...prefixed('latest', latest_touch),
  })
}

const prefixed = (which: 'first' | 'latest', touch: Touch | null) =>
  Object.fromEntries(Object.entries(touch ? columnsOf(touch) : {}).map(([name, value]) => [`${which}_${name}`, value]))
