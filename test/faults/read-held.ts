/** Reads the content of Postgres and ClickHouse for some businesses, as flat lists that an audit can compare. */
import { unpackAll } from './unpack-all.ts'
import type { World } from './world.ts'

export type Stores = Pick<World['own'], 'sql' | 'clickhouse'>

/** Values by `owner what`, in a format that both sides share. */
export type Sums = Map<string, string>

export interface Held {
  /** Each marked event in the stored outbox, and in the timeline. */
  postgresMarks: Map<string, Recorded>
  clickhouseMarks: Map<string, Recorded>
  /** By `business kind:value`. */
  identities: Map<string, { contactId: string; proven: boolean }>
  contacts: Map<string, HeldContact>
  /** By `method`. */
  identifications: Map<string, { identifiedAt: number; keyed: boolean }[]>
  /** Entries of the merge log. */
  moves: Move[]
  enrolments: Enrolment[]
  /** Types by `business key`. */
  fields: Sums
  /** Per contact: events, revenue, orders, tags, stage, traits. */
  postgresSums: Sums
  clickhouseSums: Sums
  /** Per business: revenue and orders of all days. */
  clickhouseRevenue: Sums
}

export interface Recorded {
  times: number
  occurredAt: number
  receivedAt: number
  source: string
}

export interface HeldContact {
  businessId: string
  survivor: string
  /** Contacts that were merged into it. */
  mergedIds: string[]
  keyed: boolean
  firstName: string | null
}

export interface Move {
  action: 'merged' | 'moved' | 'released'
  losingId: string
  /** `business kind:value` */
  evidence: string[]
}

export interface Enrolment {
  contactId: string
  campaignId: string
  state: string
  enrolledAt: number
  receivedAt: number
  endedAt: number | null
}

export async function readHeld({ sql, clickhouse }: Stores, businessIds: string[]): Promise<Held> {
  const list = `{${businessIds.join(',')}}`
  await unpackAll(sql)
  const analyst = async <Row>(query: string) => {
    const result = await clickhouse.query({ query, query_params: { b: businessIds }, format: 'JSONEachRow' })
    return await result.json<Row>()
  }
  return {
    postgresMarks: await readMarks(
      sql<MarkRow[]>`
      select line ->> 'properties' as properties, count(*)::int as times, min((line ->> 'occurred_ms')::bigint) as "occurredAt",
        min((line ->> 'received_ms')::bigint) as "receivedAt", min(line ->> 'source') as source
      from (
        select text::json as line from outbox, string_to_table(events, E'\n') as text
        where business_ids && ${list}::uuid[] and text <> ''
      ) lines
      where (line ->> 'business_id')::uuid = any(${list}::uuid[]) group by 1`,
    ),
    clickhouseMarks: await readMarks(
      analyst(`select properties, toUInt32(count()) as times, toString(min(occurred_ms)) as occurredAt,
          toString(min(toUnixTimestamp64Milli(received_at))) as receivedAt, min(source) as source
        from timeline where business_id in {b: Array(UUID)} group by properties`),
    ),
    identities: await readIdentities(sql, list),
    contacts: await readContacts(sql, list),
    identifications: await readIdentifications(sql, list),
    moves: await readMoves(sql, list),
    enrolments: await sql<Enrolment[]>`
      select contact_id::text as "contactId", campaign_id::text as "campaignId", state, enrolled_at as "enrolledAt",
        received_at as "receivedAt", ended_at as "endedAt"
      from enrolments where business_id = any(${list}::uuid[])`,
    fields: await readSums(
      sql<SumRow[]>`
      select business_id || ' ' || key as name, type as value from custom_fields where business_id = any(${list}::uuid[])`,
    ),
    postgresSums: await readSums(
      sql<SumRow[]>`
      select contact_id || ' event ' || event as name, count || ' ' || first_at || ' ' || last_at as value
      from event_statistics where business_id = any(${list}::uuid[])
      union all
      select contact_id || ' revenue ' || currency, trim_scale(amount * 100)::text
      from revenue where business_id = any(${list}::uuid[]) and amount <> 0
      union all
      select id || ' orders', order_count::text
      from contacts where business_id = any(${list}::uuid[]) and merged_into is null and order_count <> 0
      union all
      select id || ' tags', (select string_agg(tag, ',' order by tag collate "C") from unnest(tags) tag)
      from contacts where business_id = any(${list}::uuid[]) and merged_into is null and tags <> '{}'
      union all
      select id || ' stage', ('{Consideration,Decision,Retention,Advocacy}'::text[])[stage]
      from contacts where business_id = any(${list}::uuid[]) and merged_into is null and stage <> 0
      union all
      select id || ' trait ' || key, coalesce(value ->> 1, 'null') || ' ' || (value ->> 0)
      from contacts, jsonb_each(traits) where business_id = any(${list}::uuid[]) and merged_into is null`,
    ),
    clickhouseSums: await readSums(
      analyst(`
        select concat(toString(contact_id), ' event ', event) as name,
          concat(toString(count), ' ', toString(first_ms), ' ', toString(last_ms)) as value
        from contact_event_statistics where business_id in {b: Array(UUID)}
        union all
        select concat(toString(contact_id), ' revenue ', currency) as name, toString(amount * 100) as value
        from contacts array join mapKeys(revenue) as currency, mapValues(revenue) as amount
        where business_id in {b: Array(UUID)} and amount != 0
        union all
        select concat(toString(contact_id), ' orders') as name, toString(order_count) as value
        from contacts where business_id in {b: Array(UUID)} and order_count != 0
        union all
        select concat(toString(contact_id), ' tags') as name, arrayStringConcat(arraySort(tags), ',') as value
        from contacts where business_id in {b: Array(UUID)} and notEmpty(tags)
        union all
        select concat(toString(contact_id), ' stage') as name, toString(stage) as value
        from contacts where business_id in {b: Array(UUID)} and stage != 'Awareness'
        union all
        select concat(toString(contact_id), ' trait ', field.1) as name, field.2 as value
        from contacts array join JSONExtractKeysAndValuesRaw(custom_fields) as field
        where business_id in {b: Array(UUID)}`),
    ),
    clickhouseRevenue: await readSums(
      analyst(`
        select concat(toString(business_id), ' revenue ', currency) as name, toString(sum(revenue) * 100) as value
        from revenue_by_day where business_id in {b: Array(UUID)} group by business_id, currency having sum(revenue) != 0
        union all
        select concat(toString(business_id), ' orders') as name, toString(sum(orders)) as value
        from revenue_by_day where business_id in {b: Array(UUID)} group by business_id having sum(orders) != 0`),
    ),
  }
}

interface SumRow {
  name: string
  value: string
}

const readSums = async (rows: PromiseLike<SumRow[]>): Promise<Sums> =>
  new Map((await rows).map(({ name, value }) => [name, value]))

interface MarkRow {
  /** JSON that contains the mark. */
  properties: string
  times: number
  occurredAt: number | string
  receivedAt: number | string
  source: string
}

async function readMarks(rows: PromiseLike<MarkRow[]>): Promise<Map<string, Recorded>> {
  const marks = (await rows).map(({ properties, times, occurredAt, receivedAt, source }) => {
    const { mark } = JSON.parse(properties) as { mark: string }
    return [mark, { times, occurredAt: Number(occurredAt), receivedAt: Number(receivedAt), source }] as const
  })
  return new Map(marks)
}

async function readIdentities(sql: Stores['sql'], list: string): Promise<Held['identities']> {
  const rows = await sql<{ name: string; contactId: string; proven: boolean }[]>`
    select business_id || ' ' || kind || ':' || value as name, contact_id::text as "contactId", proven
    from identities where business_id = any(${list}::uuid[])`
  return new Map(rows.map(({ name, ...identity }) => [name, identity]))
}

async function readContacts(sql: Stores['sql'], list: string): Promise<Held['contacts']> {
  const rows = await sql<(Omit<HeldContact, 'mergedIds'> & { id: string })[]>`
    select id::text as id, business_id::text as "businessId", coalesce(merged_into, id)::text as survivor, keyed,
      first_name as "firstName"
    from contacts where business_id = any(${list}::uuid[])`
  const ids = Map.groupBy(rows, ({ survivor }) => survivor)
  return new Map(
    rows.map(({ id, ...contact }) => {
      const mergedIds = (ids.get(id) ?? []).flatMap((other) => (other.id === id ? [] : [other.id]))
      return [id, { ...contact, mergedIds }]
    }),
  )
}

async function readIdentifications(sql: Stores['sql'], list: string): Promise<Held['identifications']> {
  const rows = await sql<{ method: string; identifiedAt: number; keyed: boolean }[]>`
    select method, identified_at as "identifiedAt", keyed from identifications where business_id = any(${list}::uuid[])`
  return Map.groupBy(rows, ({ method }) => method)
}

async function readMoves(sql: Stores['sql'], list: string): Promise<Move[]> {
  const rows = await sql<
    (Omit<Move, 'evidence'> & { businessId: string; evidence: { kind: string; value: string }[] })[]
  >`
    select business_id::text as "businessId", action, losing_id::text as "losingId", evidence
    from merge_log where business_id = any(${list}::uuid[])`
  return rows.map(({ businessId, evidence, ...move }) => ({
    ...move,
    evidence: evidence.map(({ kind, value }) => `${businessId} ${kind}:${value}`),
  }))
}
