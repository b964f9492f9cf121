import { CLICK_IDS, type Touch, UTM_FIELDS } from '../../rules/events/facts.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { sendStates } from './send-states.ts'

interface TouchedVisitor {
  business_id: string
  visitor_id: string
}
interface TouchesRow extends TouchedVisitor {
  revision: number
  /** Oldest first. */
  touches: Touch[]
}

/** Sends all touches of each visitor of a group who got a new touch. */
export async function sendTouches(
  deps: { sql: Sql; clickhouse: ClickHouseClient },
  groupId: string,
  signal?: AbortSignal,
): Promise<void> {
  // A visitor can have 201 touches of some kilobytes each.
  await sendStates(deps, { table: 'visitor_touches', maxRows: 100, readTouched, readRows, encode }, groupId, signal)
}

async function readTouched(sql: Sql, groupId: string): Promise<TouchedVisitor[]> {
  return await sql<TouchedVisitor[]>`
    select distinct t.business_id, t.visitor_id
    from outbox o,
      unnest(o.visitor_business_ids, o.visitor_ids, o.visitor_touched) as t (business_id, visitor_id, touched)
    where o.group_id = ${groupId} and o.shipped_at is null and t.touched`
}

async function readRows(sql: Sql, touched: TouchedVisitor[]): Promise<TouchesRow[]> {
  return await sql<TouchesRow[]>`
    select v.business_id, v.visitor_id, v.revision, coalesce((
      select json_agg(k.touch || jsonb_build_object('at', k.at) order by k.at, k.digest)
      from visitor_touches k where k.business_id = v.business_id and k.visitor_id = v.visitor_id
    ), '[]') as touches
    from json_to_recordset(${JSON.stringify(touched)}::text::json) as t (business_id uuid, visitor_id text)
    join visitors v on v.business_id = t.business_id and v.visitor_id = t.visitor_id`
}

/** Parallel array columns, with one element per touch. */
function encode({ touches, ...visitor }: TouchesRow): string {
  const rows = touches.map(columnsOf)
  const names = Object.keys(columnsOf({ at: 0, url: '' }))
  const columns = names.map((name) => [name, rows.map((row) => row[name])] as const)
  return JSON.stringify({ ...visitor, erased: 0, ...Object.fromEntries(columns) })
}

/** A touch in flat columns; missing values are empty. */
export function columnsOf({ at, url, referrer = '', utm = {}, clickIds = {} }: Touch): Record<string, string | number> {
  const campaign = UTM_FIELDS.map((field) => [field === 'id' ? 'utm_id' : field, utm[field] ?? ''])
  const clicks = CLICK_IDS.map((field) => [field, clickIds[field] ?? ''])
  return { at_ms: at, url, referrer, ...Object.fromEntries([...campaign, ...clicks]) } as Record<string, string>
}
