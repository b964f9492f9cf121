import { PROFILE_COLUMNS, type ProfileColumn } from '../../contacts/profile-columns.ts'
import { arrayLiteral } from '../../stores/write-columns.ts'
import { STAGES } from '../../rules/events/journey-stage.ts'
import { readIso } from '../../rules/events/read-iso.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { insertStates } from '../../stores/insert-states.ts'
import { BATCH_CHARACTERS, sendStates } from './send-states.ts'

/** The current state of a contact in Postgres. */
interface ContactRow extends Record<ProfileColumn, string | null> {
  /** Position in the list of requested contacts, starting at 1. */
  place: number
  business_id: string
  contact_id: string
  revision: number
  merged_into: string | null
  created_ms: number
  /** The identities that find the contact, the primary one first. */
  emails: string[]
  phones: string[]
  platform_customer_ids: string[]
  /** The channels that the contact opted into. */
  subscribed: string[]
  /** The choices of topics; null when the business has none. */
  topics: Record<string, boolean> | null
  stage: number
  tags: string[]
  /** [epoch ms, JSON text of the value or null when cleared] */
  traits: Record<string, [number, string | null]>
  order_count: number
  /** Decimal text by currency. */
  revenue: Record<string, string>
}

/** Sends the current state of every contact that a group changed. */
export async function sendSnapshots(
  deps: { sql: Sql; clickhouse: ClickHouseClient },
  groupId: string,
  signal?: AbortSignal,
): Promise<void> {
  await sendStates(
    deps,
    { table: 'contact_snapshots', maxRows: 500, readTouched, readRows, placeOf, encode },
    groupId,
    signal,
  )
}

const placeOf = ({ place }: ContactRow): number => place

type Touched = Pick<ContactRow, 'business_id' | 'contact_id'>

async function readTouched(sql: Sql, groupId: string): Promise<Touched[]> {
  return await sql<Touched[]>`
    select distinct t.business_id, t.contact_id
    from outbox o, unnest(o.business_ids, o.contact_ids, o.changed) as t (business_id, contact_id, changed)
    where o.group_id = ${groupId} and o.shipped_at is null and t.changed`
}

/** Stored bytes from which custom fields are measured. Postgres may have compressed them, at most a hundredfold. */
const MEASURED = 1000

/**
 * Reads the contacts in order, until their custom fields and identities exceed `BATCH_CHARACTERS`. The first contact is
 * read whatever its size.
 */
async function readRows(sql: Sql, touched: Touched[]): Promise<ContactRow[]> {
  // Proven identities first, of these the primary one, and then in the order in which they were first sent, as in
  // `readContact`.
  const inOrder = sql`order by i.proven desc, i.is_primary desc, i.position`
  return await sql<ContactRow[]>`
    select c.place, c.business_id, c.id as contact_id, c.revision, c.merged_into, c.created_at as created_ms,
      ${sql(PROFILE_COLUMNS.map((column) => `c.${column}`))}, c.emails, c.phones, c.platform_customer_ids, c.stage,
      to_json(c.tags) as tags, c.traits, c.order_count, coalesce(r.revenue, '{}') as revenue,
      coalesce(s.subscribed, '[]') as subscribed, case when c.has_topics then (
        select json_object_agg(t.topic || ' ' || t.channel, t.subscribed)
        from topic_choices t where t.business_id = c.business_id and t.contact_id = c.id
      ) end as topics
    from (
      select t.place, c.*, b.has_topics, i.emails, i.phones, i.platform_customer_ids, row_number() over sofar as nth,
        sum(i.length + case when pg_column_size(c.traits) < ${MEASURED} then 0 else octet_length(c.traits::text) end)
          over sofar as length
      from unnest(
        ${arrayLiteral(touched.map(({ business_id }) => business_id))}::text::uuid[],
        ${arrayLiteral(touched.map(({ contact_id }) => contact_id))}::text::uuid[]
      ) with ordinality as t (business_id, contact_id, place)
      join contacts c on c.business_id = t.business_id and c.id = t.contact_id
      left join businesses b on b.id = c.business_id
      cross join lateral (
        select coalesce(sum(octet_length(i.value)), 0) as length,
          coalesce(json_agg(i.value ${inOrder}) filter (where i.kind = 'email'), '[]') as emails,
          coalesce(json_agg(case when i.phone_read then '+' || i.value else i.value end ${inOrder})
            filter (where i.kind = 'phone'), '[]') as phones,
          coalesce(json_agg(i.value ${inOrder}) filter (where i.kind = 'platformCustomerId'), '[]') as platform_customer_ids
        from identities i where i.business_id = c.business_id and i.contact_id = c.id
      ) i
      window sofar as (order by t.place)
    ) c
    left join lateral (
      select json_object_agg(currency, amount::text) as revenue
      from revenue where business_id = c.business_id and contact_id = c.id
    ) r on true
    left join lateral (
      select json_agg(channel order by channel) as subscribed
      from subscriptions where business_id = c.business_id and contact_id = c.id and subscribed
    ) s on true
    where c.nth = 1 or c.length <= ${BATCH_CHARACTERS}
    order by c.place`
}

/** Leaves out empty columns: most columns of most contacts. */
function encode({ stage, traits, place: _, ...contact }: ContactRow): string {
  const known = Object.fromEntries(Object.entries(contact).filter(([, value]) => value !== null))
  const fields = Object.entries(traits).flatMap(([key, [, json]]) => (json === null ? [] : [{ key, json }]))
  return JSON.stringify({
    ...known,
    stage: STAGES[stage] ?? '',
    custom_fields: writeFields(fields),
    date_fields: Object.fromEntries(fields.flatMap(readDate)),
  })
}

interface Field {
  key: string
  /** JSON text of its value. */
  json: string
}

/** Composes the JSON of the fields. The values are already JSON text. */
const writeFields = (fields: Field[]): string =>
  `{${fields.map(({ key, json }) => `${JSON.stringify(key)}:${writeValue(json)}`).join(',')}}`

/**
 * ClickHouse cannot read an object that contains an integer beyond 64 bits. With an exponent, the number is a double.
 */
const writeValue = (json: string): string => (/^-?\d{19,}$/.test(json) ? `${json}e0` : json)

/** Returns the value in epoch ms if it is a date: ClickHouse itself would read dates differently. */
function readDate({ key, json }: Field): [string, number][] {
  const at = json.startsWith('"') ? readIso(JSON.parse(json) as string) : undefined
  return at === undefined ? [] : [[key, at]]
}

/** A row of `contact_snapshots`; a column that is absent is empty. */
export interface Snapshot {
  business_id: string
  contact_id: string
  revision: number
  erased: 0 | 1
  [column: string]: unknown
}

export async function insertSnapshots(clickhouse: ClickHouseClient, snapshots: Snapshot[]): Promise<void> {
  const lines = snapshots.map((snapshot) => JSON.stringify(snapshot))
  await insertStates(clickhouse, 'contact_snapshots', lines)
}
