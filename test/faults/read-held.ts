/** What Postgres and ClickHouse hold of some businesses, as flat lists that an audit can compare. */
import type { Sums } from './audit.ts'
import type { World } from './world.ts'

export type Stores = Pick<World['own'], 'sql' | 'clickhouse'>

export interface Held {
  /** How often each marked event is there: in the outbox that is kept, and in the timeline. */
  postgresMarks: Map<string, number>
  clickhouseMarks: Map<string, number>
  /** `business kind:value` → contact. */
  identities: Map<string, string>
  contacts: Map<string, { survivor: string }>
  /** By `method`. */
  identifications: Map<string, number>
  postgresSums: Sums
  clickhouseSums: Sums
  /** By business: revenue and orders of all days. */
  clickhouseRevenue: Sums
}

export async function readHeld({ sql, clickhouse }: Stores, businessIds: string[]): Promise<Held> {
  const list = `{${businessIds.join(',')}}`
  const one = async (rows: PromiseLike<Row[]>) => new Map((await rows).map(({ name, value }) => [name, value] as const))
  const count = async (rows: PromiseLike<Row[]>) =>
    new Map((await rows).map(({ name, value }) => [name, Number(value)] as const))
  const analyst = async (query: string) => {
    const result = await clickhouse.query({ query, query_params: { b: businessIds }, format: 'JSONEachRow' })
    return await result.json<Row>()
  }
  const contacts = await one(sql<Row[]>`
    select id::text as name, coalesce(merged_into, id)::text as value from contacts where business_id = any(${list}::uuid[])`)
  return {
    postgresMarks: await count(
      sql<Row[]>`
      select line::json ->> 'properties' as name, count(*)::text as value
      from outbox, string_to_table(events, E'\n') as line
      where line <> '' and (line::json ->> 'business_id')::uuid = any(${list}::uuid[]) group by 1`.then(readMarks),
    ),
    clickhouseMarks: await count(
      analyst(`select JSONExtractString(properties, 'mark') as name, toString(count()) as value
        from timeline where business_id in {b: Array(UUID)} group by name`),
    ),
    identities: await one(sql<Row[]>`
      select business_id || ' ' || kind || ':' || value as name, contact_id::text as value
      from identities where business_id = any(${list}::uuid[])`),
    contacts: new Map([...contacts].map(([id, survivor]) => [id, { survivor }])),
    identifications: await count(sql<Row[]>`
      select method as name, count(*)::text as value from identifications
      where business_id = any(${list}::uuid[]) group by 1`),
    postgresSums: await one(sql<Row[]>`
      select contact_id || ' event ' || event as name, count || ' ' || first_at || ' ' || last_at as value
      from event_statistics where business_id = any(${list}::uuid[])
      union all
      select contact_id || ' revenue ' || currency, trim_scale(amount * 100)::text
      from revenue where business_id = any(${list}::uuid[]) and amount <> 0
      union all
      select id || ' orders', order_count::text
      from contacts where business_id = any(${list}::uuid[]) and merged_into is null and order_count <> 0`),
    clickhouseSums: await one(
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
        from contacts where business_id in {b: Array(UUID)} and order_count != 0`),
    ),
    clickhouseRevenue: await one(
      analyst(`
        select concat(toString(business_id), ' revenue ', currency) as name, toString(sum(revenue) * 100) as value
        from revenue_by_day where business_id in {b: Array(UUID)} group by business_id, currency having sum(revenue) != 0
        union all
        select concat(toString(business_id), ' orders') as name, toString(sum(orders)) as value
        from revenue_by_day where business_id in {b: Array(UUID)} group by business_id having sum(orders) != 0`),
    ),
  }
}

interface Row {
  name: string
  value: string
}

/** The properties are JSON in JSON. */
const readMarks = (rows: Row[]): Row[] =>
  rows.map(({ name, value }) => ({ name: (JSON.parse(name) as { mark: string }).mark, value }))
