/**
 * For each event of the timeline with an idempotency key, Postgres must have the hash of the key. Otherwise a repeat
 * would be recorded again. A key is stored together with its event, so earlier than the timeline can have the event.
 */
import type { Sql } from '../../stores/postgres.ts'
import { findLost } from './find-lost.ts'
import type { BusinessKind, CompareDeps } from './kind.ts'
import { queryClickHouse } from './query-clickhouse.ts'

interface KeyedEvent {
  contact: string
  at: string
  event: string
  hash: string
}

/** Events per query. */
const PAGE = 20_000
const LEAST = {
  contact: '00000000-0000-0000-0000-000000000000',
  at: '0',
  event: '00000000-0000-0000-0000-000000000000',
}

export const KEY: BusinessKind<KeyedEvent> = {
  name: 'idempotency key',
  part: 'idempotency keys',
  async *find(deps, businessId) {
    let after: Omit<KeyedEvent, 'hash'> | undefined = LEAST
    while (after && !deps.signal.aborted) {
      const events = await readPage(deps, businessId, after)
      yield { items: await selectMissing(deps.sql, businessId, events) }
      after = events.at(-1)
    }
  },
  describe: ({ contact, event }) => ({
    contactId: contact,
    name: `of event ${event}`,
    clickhouse: 'recorded',
    note: 'Postgres is wrong: a repeat of this event would be recorded again',
    wrong: 'postgres',
  }),
  /**
   * Restores keys, except those of events that Postgres lost: with its key, such an event could not be recorded again.
   */
  async repair(deps, businessId, missing) {
    const lost = await findLost(deps, businessId, [...new Set(missing.map(({ contact }) => contact))])
    const lostIds = new Set(lost.map(({ event_id }) => event_id))
    const restored = missing.filter(({ event }) => !lostIds.has(event))
    const { count } = await deps.writer`
      insert into idempotency_keys (business_id, key_hash, contact_id, occurred_at)
      select ${businessId}, hash, contact, at
      from json_to_recordset(${JSON.stringify(restored)}::text::json) as x (hash uuid, contact uuid, at bigint)
      order by hash
      on conflict do nothing`
    return { keys: count }
  },
}

/** Reads one page, in the order of ClickHouse's primary key. */
async function readPage({ clickhouse }: CompareDeps, businessId: string, after: Omit<KeyedEvent, 'hash'>) {
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

async function selectMissing(sql: Sql, businessId: string, events: KeyedEvent[]): Promise<KeyedEvent[]> {
  const rows = await sql<{ hash: string }[]>`
    select replace(hash::text, '-', '') as hash
    from (
      select distinct json_array_elements_text(${JSON.stringify(events.map(({ hash }) => hash))}::text::json)::uuid as hash
    ) sent
    where not exists (
      select from idempotency_keys k where k.business_id = ${businessId} and k.key_hash = sent.hash
    )`
  const missing = new Set(rows.map(({ hash }) => hash))
  return events.filter(({ hash }) => missing.has(hash))
}
