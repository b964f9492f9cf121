/**
 * Writes contacts with a history directly to Postgres and ClickHouse, as saves and the shipper would have left them,
 * because sending ten million events takes hours. Both stores compute the same rows with the same arithmetic.
 */
import type { ClickHouseClient } from '../../../src/stores/clickhouse.ts'
import type { Sql } from '../../../src/stores/postgres.ts'
import { LONG_STATEMENT_SETTINGS } from '../../../src/outbox/look-up-events.ts'
import { NAMES } from '../generator/traffic.ts'

export interface FilledSize {
  contacts: number
  /** Total number of events. Each contact has the same number; the remainder is not created. */
  events: number
}

const DAY_MS = 86_400_000
/** The last event of each contact lies within the 60 days before the fill. Its events are one hour apart. */
const SPAN_MS = 60 * DAY_MS
const STEP_MS = 3_600_000
/** Contacts per insert. */
const CHUNK = 50_000

/** @param report called with the number of contacts created so far, and the total */
export async function fillContacts(
  { sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient },
  businessId: string,
  { contacts, events }: FilledSize,
  report: (filled: number, all: number) => void = () => undefined,
): Promise<void> {
  const perContact = Math.max(1, Math.floor(events / contacts))
  const now = Date.now()
  await sql`
    insert into custom_fields (business_id, key, type, created_at)
    values (${businessId}, 'plan', 'Text', ${now}), (${businessId}, 'seats', 'Number', ${now})`
  for (let from = 0; from < contacts; from += CHUNK) {
    const sizes = { businessId, from, until: Math.min(contacts, from + CHUNK) - 1, perContact, now }
    await fillPostgres(sql, sizes)
    for (const query of [snapshotsSql(sizes), eventsSql(sizes)])
      await clickhouse.command({ query, clickhouse_settings: LONG_STATEMENT_SETTINGS })
    report(sizes.until + 1, contacts)
  }
  for (const table of ['contacts', 'identities', 'event_statistics']) await sql`vacuum (analyze) ${sql(table)}`
}

interface Sizes {
  businessId: string
  /** Numbers of contacts, inclusive. */
  from: number
  until: number
  perContact: number
  /** Epoch milliseconds. */
  now: number
}

/** Time of the last event of contact `n`. Its events use the names in rotation; the last event has the first name. */
const lastAt = ({ now }: Sizes): string => `${now} - (n * 7919777) % ${SPAN_MS}`
const CONTACT_PREFIX = '018f0000-0000-7000-8000-'
const EVENT_PREFIX = '018f0000-0000-7000-'

async function fillPostgres(sql: Sql, sizes: Sizes): Promise<void> {
  const { businessId, from, until, perContact } = sizes
  const people = `
    select n, ('${CONTACT_PREFIX}' || lpad(to_hex(n), 12, '0'))::uuid as id, ${lastAt(sizes)} as last_at
    from generate_series(${from}::bigint, ${until}::bigint) as n`
  const names = NAMES.slice(0, perContact).map((name, place) => `('${name}', ${place})`)
  await sql.unsafe(`
    insert into contacts (business_id, id, created_at, keyed, traits)
    select '${businessId}', id, last_at - ${perContact * STEP_MS}, true, json_build_object(
      'plan', json_build_array(last_at, '"pro"'), 'seats', json_build_array(last_at, (n % 20)::text))::jsonb
    from (${people}) as p`)
  await sql.unsafe(`
    insert into identities (business_id, kind, value, contact_id, proven)
    select '${businessId}', 'email', 'filled' || n || '@example.com', id, true from (${people}) as p`)
  await sql.unsafe(`
    insert into event_statistics (business_id, contact_id, event, first_at, last_at, count)
    select '${businessId}', id, name, last_at - (place + (count - 1) * ${NAMES.length}) * ${STEP_MS}, last_at - place * ${STEP_MS}, count
    from (${people}) as p
    cross join (
      select name, place, (${perContact} - place - 1) / ${NAMES.length} + 1 as count
      from (values ${names.join(', ')}) as x (name, place)
    ) as named`)
}

const numbersSql = ({ from, until }: Sizes): string =>
  `(select toInt64(number) as n from numbers(${from}, ${until - from + 1}))`
const contactSql = `toUUID(concat('${CONTACT_PREFIX}', leftPad(lower(hex(n)), 12, '0')))`

const snapshotsSql = (sizes: Sizes): string => `insert into contact_snapshots
  (business_id, contact_id, revision, erased, created_ms, stage, tags, custom_fields, order_count, emails)
select '${sizes.businessId}', ${contactSql}, 1, 0, ${lastAt(sizes)} - ${sizes.perContact * STEP_MS}, 'Awareness', [],
  concat('{"plan":"pro","seats":', toString(n % 20), '}'), 0, [concat('filled', toString(n), '@example.com')]
from ${numbersSql(sizes)}`

const eventsSql = (sizes: Sizes): string => `insert into events
  (business_id, contact_id, event_id, event, occurred_ms, received_ms, type, counted, is_order, properties, source)
select '${sizes.businessId}', ${contactSql},
  toUUID(concat('${EVENT_PREFIX}', substring(leftPad(lower(hex(k)), 4, '0'), 1, 4), '-', leftPad(lower(hex(n)), 12, '0'))),
  [${NAMES.map((name) => `'${name}'`).join(', ')}][1 + k % ${NAMES.length}], ${lastAt(sizes)} - k * ${STEP_MS}, ${lastAt(sizes)} - k * ${STEP_MS},
  'none', 0, 0, concat('{"page":"/catalogue/shoes/', toString((n + k) % 1000), '","position":', toString(k % 50), '}'), 'live'
from ${numbersSql(sizes)} as p array join range(${sizes.perContact}) as k`
