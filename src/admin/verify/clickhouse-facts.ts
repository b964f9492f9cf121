import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import { LONG_STATEMENT, quoted } from '../../timeline/look-up-events.ts'
import type { Checksum, ContactChecksum, Fact, Scope, Slice } from './facts.ts'

/** Limits the load: two threads at most, a time limit, and little memory before data goes to the disk. */
const SETTINGS = {
  ...LONG_STATEMENT,
  max_threads: 2,
  max_execution_time: 55,
  max_bytes_before_external_group_by: '268435456',
  optimize_aggregation_in_order: 1 as const,
  join_use_nulls: 0 as const,
  output_format_json_quote_64bit_integers: 1 as const,
}

export async function queryClickHouse<Row>(clickhouse: ClickHouseClient, query: string): Promise<Row[]> {
  const result = await clickhouse.query({ query, format: 'JSONEachRow', clickhouse_settings: SETTINGS })
  return await result.json<Row>()
}

const HASH = `reinterpretAsUInt64(reverse(substring(MD5(concat(toString(id), ' ', name, ' ', value)), 1, 8)))`

export async function sumClickHouse(clickhouse: ClickHouseClient, slice: Slice): Promise<Checksum[]> {
  return await queryClickHouse<Checksum>(
    clickhouse,
    `select kind, right(toString(id), 2) as bucket, toUInt32(count()) as count, toString(sum(${HASH})) as sum
    from (${factsIn(slice)}) group by kind, bucket`,
  )
}

/** Checksums by contact, of at most `max` contacts whose ids end with one of `buckets`. */
export async function sumContactsInClickHouse(
  clickhouse: ClickHouseClient,
  slice: Slice,
  buckets: string[],
  max: number,
): Promise<ContactChecksum[]> {
  const endings = buckets.map((bucket) => `'${bucket}'`).join(', ')
  return await queryClickHouse<ContactChecksum>(
    clickhouse,
    `select toString(id) as id, toString(sum(hash)) as sum
    from (select id, ${HASH} as hash from (${factsIn(slice)}) where right(toString(id), 2) in (${endings}))
    group by id limit ${max}`,
  )
}

export async function readClickHouse(clickhouse: ClickHouseClient, businessId: string, ids: string[]): Promise<Fact[]> {
  return await queryClickHouse<Fact>(clickhouse, `select kind, id, name, value from (${factsIn({ businessId, ids })})`)
}

function within(scope: Scope, column: string): string {
  const business = `business_id = '${scope.businessId}'`
  if ('ids' in scope) return `${business} and ${column} in (${quoted(scope.ids)})`
  return `${business} and UUIDToNum(${column}) > ${bytes(scope.after)} and UUIDToNum(${column}) <= ${bytes(scope.upTo)}`
}

/** Postgres orders ids by their bytes; ClickHouse does not. */
const bytes = (id: string): string => `unhex('${id.replaceAll('-', '')}')`

/** The same text as in `postgres-facts.ts`, from the same columns. */
const CONTENT = `arrayStringConcat([
  toString(created_ms), ifNull(toString(merged_into), ''), toString(stage), toString(order_count),
  arrayStringConcat(arraySort(arrayMap((c, a) -> concat(toString(c), '=', toString(a)), mapKeys(revenue), mapValues(revenue))), ','),
  custom_fields, arrayStringConcat(tags, char(30)), arrayStringConcat(emails, char(30)), arrayStringConcat(phones, char(30)),
  arrayStringConcat(platform_customer_ids, char(30)),
  ifNull(first_name, char(1)), ifNull(last_name, char(1)), ifNull(country, char(1)),
  ifNull(city, char(1)), ifNull(language, char(1)), ifNull(timezone, char(1))
], char(31))`

/**
 * The facts of a surviving contact include the events of the ids that ClickHouse has merged into it, as in its views. This
 * reads the tables, because the views cannot be limited to a range; `check-views.ts` checks that both agree.
 */
function factsIn(scope: Scope): string {
  const business = `business_id = '${scope.businessId}'`
  const redirects = `(select contact_id, survivor_id, erased from contact_redirects final
    where (${within(scope, 'contact_id')}) or (${within(scope, 'survivor_id')}))`
  const theirs = `((${within(scope, 'contact_id')})
    or (${business} and contact_id in (select contact_id from contact_redirects where ${within(scope, 'survivor_id')})))`
  const bySurvivor = (table: string) =>
    `(select e.*, coalesce(r.survivor_id, e.contact_id) as owner from (${table}) as e
      left join ${redirects} as r on r.contact_id = e.contact_id
      where ifNull(r.erased, 0) = 0 and ${within(scope, 'owner').replace(`${business} and `, '')})`
  const events = `select contact_id, occurred_ms, event_id, toString(any(event)) as event,
      ifNull(toString(any(currency)), '') as currency, any(counted) as counted, any(is_order) as is_order, count() as copies
    from events where ${theirs} group by business_id, contact_id, occurred_ms, event_id`
  return [
    `select fact.1 as kind, id, fact.2 as name, fact.3 as value from (
      select owner as id, arrayJoin(multiIf(
        grouping(event) = 0, [('events', event, concat(toString(count()), ' ', toString(min(occurred_ms)), ' ', toString(max(occurred_ms))))],
        grouping(currency) = 0, [('revenue', currency, toString(sum(counted)))],
        [('orders', '', toString(sum(is_order))), ('doubled', '', toString(sum(copies - 1)))]
      )) as fact
      from ${bySurvivor(events)} group by grouping sets ((owner, event), (owner, currency), (owner))
    ) where fact.1 = 'events' or fact.3 != '0'`,
    `select 'statistics' as kind, owner as id, toString(event) as name,
      concat(toString(sum(count)), ' ', toString(min(first_ms)), ' ', toString(max(last_ms))) as value
    from ${bySurvivor(`select contact_id, event, count, first_ms, last_ms from event_statistics where ${theirs}`)}
    group by owner, event`,
    `select 'contact' as kind, contact_id as id, '' as name, concat(toString(revision), ' ', lower(hex(MD5(${CONTENT})))) as value
    from contact_snapshots final where ${within(scope, 'contact_id')} and erased = 0`,
    `select 'merge' as kind, contact_id as id, '' as name, toString(assumeNotNull(survivor_id)) as value
    from contact_redirects final where ${within(scope, 'contact_id')} and erased = 0 and survivor_id is not null`,
  ].join('\nunion all\n')
}
