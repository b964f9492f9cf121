/**
 * Reads facts and their checksums. Postgres and ClickHouse compute the checksums, so a whole slice is compared by a few
 * of them, and facts are read only where these differ.
 */
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Fact, Fragment, Scope, Slice, Status, Subject } from './kind.ts'
import { queryClickHouse } from './query-clickhouse.ts'

/** The facts of one kind whose ids end with `bucket`: their number, and the sum of their hashes. */
export interface Checksum {
  kind: string
  bucket: string
  count: number
  sum: string
}

/** The sum of the hashes of all facts of one id. */
export interface ChecksumOfId {
  id: string
  sum: string
}

/**
 * ClickHouse has the events of a contact twice, in its timeline and in its statistics. Postgres has them once, so its
 * fact counts for both.
 */
export const withStatistics = <Item extends { kind: string }>(item: Item): Item[] =>
  item.kind === 'events' ? [item, { ...item, kind: 'statistics' }] : [item]

/** Uses one statement, so that the sums are as of one instant. */
export async function sumPostgres(sql: Sql, subject: Subject, slice: Slice): Promise<Checksum[]> {
  const sums = await sql<Checksum[]>`
    select kind, right(id::text, 2) as bucket, count(*)::int as count, ${sumOf(sql, sql`hash`)} as sum
    from (${hashesIn(sql, subject, slice)}) hashed group by 1, 2`
  return sums.flatMap(withStatistics)
}

export async function sumClickHouse(clickhouse: ClickHouseClient, subject: Subject, slice: Slice): Promise<Checksum[]> {
  return await queryClickHouse<Checksum>(
    clickhouse,
    `select kind, rightUTF8(toString(id), 2) as bucket, toUInt32(count()) as count, toString(sum(${HASH})) as sum
    from (${factsInClickHouse(subject, slice)}) group by kind, bucket`,
  )
}

/**
 * Returns checksums by id, for ids that end with one of `buckets`. The facts of events count twice: see
 * `withStatistics`.
 */
export async function sumEachInPostgres(
  sql: Sql,
  subject: Subject,
  slice: Slice,
  buckets: string[],
): Promise<ChecksumOfId[]> {
  return await sql<ChecksumOfId[]>`
    select id, ${sumOf(sql, sql`case kind when 'events' then 2 * hash::numeric else hash end`)} as sum
    from (${hashesIn(sql, subject, slice)}) hashed
    where right(id::text, 2) in (select json_array_elements_text(${JSON.stringify(buckets)}::text::json))
    group by id`
}

/** Returns the same from ClickHouse, for at most `max` ids. */
export async function sumEachInClickHouse(
  clickhouse: ClickHouseClient,
  subject: Subject,
  slice: Slice,
  buckets: string[],
  max: number,
): Promise<ChecksumOfId[]> {
  return await queryClickHouse<ChecksumOfId>(
    clickhouse,
    `select toString(id) as id, toString(sum(hash)) as sum
    from (
      select id, ${HASH} as hash from (${factsInClickHouse(subject, slice)})
      where rightUTF8(toString(id), 2) in (${buckets.map(textLiteral).join(', ')})
    )
    group by id limit ${max}`,
  )
}

const HASH = `reinterpretAsUInt64(reverse(substring(MD5(concat(toString(id), ' ', name, ' ', value)), 1, 8)))`

const hashesIn = (sql: Sql, subject: Subject, scope: Scope): Fragment => sql`
  select kind, id, ('x' || substr(md5(id || ' ' || name || ' ' || value), 1, 16))::bit(64)::bigint as hash
  from (${factsInPostgres(sql, subject, scope)}) facts (kind, id, name, value)`

/** The sum as an unsigned 64-bit number that overflows as in ClickHouse. */
const sumOf = (sql: Sql, hash: Fragment): Fragment =>
  sql`(((sum(${hash}) % ${TWO_TO_64}::numeric) + ${TWO_TO_64}::numeric) % ${TWO_TO_64}::numeric)::text`

const TWO_TO_64 = '18446744073709551616'

/** Postgres.js joins an array of fragments to one text. */
const factsInPostgres = (sql: Sql, { kinds }: Subject, scope: Scope): Fragment[] =>
  Object.values(kinds)
    .flatMap((kind) => kind.postgres?.(sql, scope) ?? [])
    .map((query, at) => (at === 0 ? query : sql`union all ${query}`))

const factsInClickHouse = ({ kinds }: Subject, scope: Scope): string =>
  Object.values(kinds)
    .flatMap((kind) => kind.clickhouse?.(scope) ?? [])
    .join('\nunion all\n')

export interface PostgresState {
  facts: Fact[]
  status: Map<string, Status>
}

/** Reads the facts and states of some ids in one statement, so as of one instant. */
export async function readPostgres(
  sql: Sql,
  subject: Subject,
  businessId: string,
  ids: string[],
): Promise<PostgresState> {
  const rows = await sql<Fact[]>`
    select kind, id, name, value from (${factsInPostgres(sql, subject, { businessId, ids })}) facts (kind, id, name, value)
    union all (${subject.status(sql, businessId, ids)})`
  const status = rows.filter(({ kind }) => kind === 'status')
  return {
    facts: rows.filter(({ kind }) => kind !== 'status').flatMap(withStatistics),
    status: new Map(status.map(({ id, value }) => [id, value as Status])),
  }
}

export async function readClickHouse(
  clickhouse: ClickHouseClient,
  subject: Subject,
  businessId: string,
  ids: string[],
): Promise<Fact[]> {
  const facts = factsInClickHouse(subject, { businessId, ids })
  return await queryClickHouse<Fact>(clickhouse, `select kind, id, name, value from (${facts})`)
}

/** Returns the greatest of the next `size` ids after `after`, or the greatest possible id when fewer are left. */
export async function endOfSlice(sql: Sql, subject: Subject, businessId: string, after: string, size: number) {
  const { table, column, greatest } = subject
  const [row] = await sql<{ id: string }[]>`
    select ${sql(column)} as id from ${sql(table)} where business_id = ${businessId} and ${sql(column)} > ${after}
    order by ${sql(column)} offset ${size - 1} limit 1`
  return row?.id ?? greatest
}

export async function countSlice(sql: Sql, { table, column }: Subject, { businessId, after, upTo }: Slice) {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from ${sql(table)}
    where business_id = ${businessId} and ${sql(column)} > ${after} and ${sql(column)} <= ${upTo}`
  return row.count
}
