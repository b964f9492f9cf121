import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { sendStates } from './send-states.ts'

interface ChangedLink {
  business_id: string
  visitor_id: string
  /** Epoch ms. */
  from_ms: number
}
interface LinkRow extends ChangedLink {
  /** Null when the visitor belongs to no contact in this time span. */
  contact_id: string | null
  /** Revision of the visitor. */
  revision: number
}

/** Sends only the visitor links that a group created or changed: a visitor may have very many. */
export async function sendVisitorLinks(
  deps: { sql: Sql; clickhouse: ClickHouseClient },
  groupId: string,
  signal?: AbortSignal,
): Promise<void> {
  await sendStates(deps, { table: 'visitor_links', maxRows: 2000, readTouched, readRows, encode }, groupId, signal)
}

async function readTouched(sql: Sql, groupId: string): Promise<ChangedLink[]> {
  return await sql<ChangedLink[]>`
    select distinct t.business_id, t.visitor_id, t.from_ms
    from outbox o,
      unnest(o.visitor_business_ids, o.visitor_ids, o.visitor_link_from) as t (business_id, visitor_id, from_ms)
    where o.group_id = ${groupId} and o.shipped_at is null and t.from_ms is not null`
}

async function readRows(sql: Sql, changed: ChangedLink[]): Promise<LinkRow[]> {
  return await sql<LinkRow[]>`
    select l.business_id, l.visitor_id, l.from_at as from_ms, l.contact_id, v.revision
    from json_to_recordset(${JSON.stringify(changed)}::text::json) as t (business_id uuid, visitor_id text, from_ms bigint)
    join visitor_links l on l.business_id = t.business_id and l.visitor_id = t.visitor_id and l.from_at = t.from_ms
    join visitors v on v.business_id = l.business_id and v.visitor_id = l.visitor_id`
}

function encode({ contact_id, ...link }: LinkRow): string {
  return JSON.stringify(contact_id === null ? { ...link, erased: 1 } : { ...link, contact_id, erased: 0 })
}
