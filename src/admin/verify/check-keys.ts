/**
 * For each event of the timeline that was recorded under an idempotency key, Postgres has the hash of the key. Without it, a
 * repeat would be recorded again. A key is stored together with its event, so before the timeline can have the event.
 */
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { queryClickHouse } from './clickhouse-facts.ts'
import type { CompareDeps } from './compare-one-by-one.ts'
import { LEAST_ID } from './facts.ts'

export interface MissingKey {
  hash: string
  contactId: string
  eventId: string
  occurredAt: number
}

/** Events per query. */
const PAGE = 20_000

/** Yields page by page, in the order of ClickHouse's primary key. */
export async function* findMissingKeys(deps: CompareDeps, businessId: string): AsyncGenerator<MissingKey[]> {
  let after: KeyedEvent = { contact: LEAST_ID, at: '0', event: LEAST_ID, hash: '' }
  while (!deps.signal.aborted) {
    const events = await readPage(deps.clickhouse, businessId, after)
    const last = events.at(-1)
    if (!last) return
    yield await selectMissing(deps.sql, businessId, events)
    after = last
  }
}

/** Inserts the keys that are still missing. Returns their number. */
export async function restoreKeys(sql: Sql, businessId: string, missing: MissingKey[]): Promise<number> {
  const rows = missing.map(({ hash, contactId, occurredAt }) => ({ hash, contact: contactId, at: occurredAt }))
  const { count } = await sql`
    insert into idempotency_keys (business_id, key_hash, contact_id, occurred_at)
    select ${businessId}, hash, contact, at
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (hash uuid, contact uuid, at bigint)
    order by hash
    on conflict do nothing`
  return count
}

interface KeyedEvent {
  contact: string
  at: string
  event: string
  hash: string
}

async function readPage(clickhouse: ClickHouseClient, businessId: string, after: KeyedEvent): Promise<KeyedEvent[]> {
  return await queryClickHouse<KeyedEvent>(
    clickhouse,
    `select toString(e.contact_id) as contact, toString(e.occurred_ms) as at, toString(e.event_id) as event,
      lower(hex(substring(SHA256(assumeNotNull(e.idempotency_key)), 1, 16))) as hash
    from events as e
    where e.business_id = '${businessId}' and e.idempotency_key is not null
      and (e.contact_id, e.occurred_ms, e.event_id) > (toUUID('${after.contact}'), ${after.at}, toUUID('${after.event}'))
    order by e.contact_id, e.occurred_ms, e.event_id limit ${PAGE}`,
  )
}

async function selectMissing(sql: Sql, businessId: string, events: KeyedEvent[]): Promise<MissingKey[]> {
  const hashes = JSON.stringify(events.map(({ hash }) => hash))
  const rows = await sql<{ hash: string }[]>`
    select replace(hash::text, '-', '') as hash
    from (select distinct json_array_elements_text(${hashes}::text::json)::uuid as hash) sent
    where not exists (
      select from idempotency_keys k where k.business_id = ${businessId} and k.key_hash = sent.hash
    )`
  const missing = new Set(rows.map(({ hash }) => hash))
  return events
    .filter(({ hash }) => missing.has(hash))
    .map(({ hash, contact, event, at }) => ({ hash, contactId: contact, eventId: event, occurredAt: Number(at) }))
}
