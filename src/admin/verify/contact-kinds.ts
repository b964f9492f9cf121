/**
 * Facts that must be equal for each contact. ClickHouse's facts of a surviving contact include the events of the ids
 * that ClickHouse has merged into it, as in its views. They are read from the tables, because the views cannot be
 * limited to a range; `check-views.ts` checks that both agree.
 */
import { PROFILE_COLUMNS } from '../../contacts/profile-columns.ts'
import { STAGES } from '../../rules/events/journey-stage.ts'
import type { Sql } from '../../stores/postgres.ts'
import { quoted } from '../../outbox/look-up-events.ts'
import type { Different, DifferentFact, FactKind, Fragment, Scope } from './kind.ts'

const where = (sql: Sql, scope: Scope, column: string): Fragment =>
  'ids' in scope
    ? sql`business_id = ${scope.businessId} and ${sql(column)} = any(${`{${scope.ids.join(',')}}`}::uuid[])`
    : sql`business_id = ${scope.businessId} and ${sql(column)} > ${scope.after} and ${sql(column)} <= ${scope.upTo}`

const within = (scope: Scope, column: string): string =>
  `business_id = '${scope.businessId}' and ${isOneOf(scope, column)}`

const isOneOf = (scope: Scope, column: string): string =>
  'ids' in scope
    ? `${column} in (${quoted(scope.ids)})`
    : `UUIDToNum(${column}) > ${bytes(scope.after)} and UUIDToNum(${column}) <= ${bytes(scope.upTo)}`

/** Converts an id to bytes, by which Postgres orders ids. ClickHouse does not. */
const bytes = (id: string): string => `unhex('${id.replaceAll('-', '')}')`

/** Selects `columns` of a table of ClickHouse, each row with the contact to which it belongs now (`owner`). */
const ownedRows = (scope: Scope, columns: string, table: string, rest = ''): string => `(
  select e.*, coalesce(r.survivor_id, e.contact_id) as owner from (
    select contact_id, ${columns} from ${table}
    where (${within(scope, 'contact_id')}) or (business_id = '${scope.businessId}'
      and contact_id in (select contact_id from contact_redirects where ${within(scope, 'survivor_id')}))
    ${rest}
  ) as e
  left join (
    select contact_id, survivor_id, erased from contact_redirects final
    where (${within(scope, 'contact_id')}) or (${within(scope, 'survivor_id')})
  ) as r on r.contact_id = e.contact_id
  where ifNull(r.erased, 0) = 0 and ${isOneOf(scope, 'owner')}
)`

export const CONTACT_KINDS: Record<string, FactKind> = {
  /** For each event name: `count first last`, from the timeline. */
  events: {
    name: 'timeline',
    postgres: (sql, scope) => sql`
      select 'events', contact_id, event, count || ' ' || first_at || ' ' || last_at
      from event_statistics where ${where(sql, scope, 'contact_id')}`,
    // One scan for all kinds that come from the timeline.
    clickhouse: (scope) => `
      select fact.1 as kind, id, fact.2 as name, fact.3 as value from (
        select owner as id, arrayJoin(multiIf(
          grouping(event) = 0, [('events', event, concat(toString(count()), ' ', toString(min(occurred_ms)), ' ', toString(max(occurred_ms))))],
          grouping(currency) = 0, [('revenue', currency, toString(sum(counted)))],
          [('orders', '', toString(sum(is_order))), ('doubled', '', toString(sum(copies - 1)))]
        )) as fact
        from ${ownedRows(
          scope,
          `occurred_ms, event_id, toString(any(event)) as event, ifNull(toString(any(currency)), '') as currency,
            any(counted) as counted, any(is_order) as is_order, count() as copies`,
          'events',
          'group by business_id, contact_id, occurred_ms, event_id',
        )} group by grouping sets ((owner, event), (owner, currency), (owner))
      ) where fact.1 = 'events' or fact.3 != '0'`,
    describe: describeStatistic,
    note: ({ postgres, clickhouse }, inOutbox, setAside) =>
      noteOfEvents(countOf(postgres) - countOf(clickhouse), inOutbox, setAside),
    isStale: ({ name }, all) => !all.some((fact) => fact.kind === 'statistics' && fact.name === name),
    repairs: ['outbox'],
  },
  /** The same from the statistics that analysts read. Postgres has one copy of both (read-facts.ts). */
  statistics: {
    name: 'statistics',
    clickhouse: (scope) => `
      select 'statistics' as kind, owner as id, toString(event) as name,
        concat(toString(sum(count)), ' ', toString(min(first_ms)), ' ', toString(max(last_ms))) as value
      from ${ownedRows(scope, 'event, count, first_ms, last_ms', 'event_statistics')} group by owner, event`,
    describe: describeStatistic,
    isStale: ({ name }, all) => !all.some((fact) => fact.kind === 'events' && fact.name === name),
    repairs: ['state'],
  },
  /** For each currency: the sum of the events. */
  revenue: {
    name: 'revenue',
    postgres: (sql, scope) => sql`
      select 'revenue', contact_id, currency, trim_scale(amount)::text
      from revenue where ${where(sql, scope, 'contact_id')} and amount <> 0`,
    repairs: ['outbox'],
  },
  orders: {
    name: 'orders',
    postgres: (sql, scope) => sql`
      select 'orders', id, '', order_count::text from contacts where ${where(sql, scope, 'id')} and order_count <> 0`,
    repairs: ['outbox'],
  },
  /** The snapshot of any contact id, as `revision md5`. */
  contact: {
    name: 'snapshot',
    postgres: (sql, scope) => sql`
      select 'contact', id, '', revision || ' ' || md5(${contentInPostgres(sql)})
      from contacts c where ${where(sql, scope, 'id')}`,
    clickhouse: (scope) => `
      select 'contact' as kind, contact_id as id, '' as name, concat(toString(revision), ' ', lower(hex(MD5(${CONTENT_IN_CLICKHOUSE})))) as value
      from contact_snapshots final where ${within(scope, 'contact_id')} and erased = 0`,
    describe: (value) => `revision ${value.split(' ')[0]}`,
    note: noteOfState,
    isStale: ({ postgres, clickhouse }) => countOf(postgres) > countOf(clickhouse),
    repairs: ['state'],
  },
  /** The survivor of a merged contact. */
  merge: {
    name: 'merge',
    postgres: (sql, scope) => sql`
      select 'merge', id, '', merged_into::text from contacts where ${where(sql, scope, 'id')} and merged_into is not null`,
    clickhouse: (scope) => `
      select 'merge' as kind, contact_id as id, '' as name, toString(assumeNotNull(survivor_id)) as value
      from contact_redirects final where ${within(scope, 'contact_id')} and erased = 0 and survivor_id is not null`,
    note: () => 'ClickHouse has not merged their timelines',
    isStale: () => true,
    repairs: ['state'],
  },
  /** Number of surplus copies of events in ClickHouse. */
  doubled: {
    name: 'doubled events',
    note: () => 'ClickHouse has copies of its events',
    isStale: () => true,
    repairs: ['outbox', 'copies'],
  },
}

/** Returns whether one of these differences is repaired in this way. */
export const isRepairedBy = (repair: FactKind['repairs'][number], { facts }: Pick<Different, 'facts'>): boolean =>
  facts.some(({ kind }) => CONTACT_KINDS[kind]?.repairs.includes(repair))

/** Every column of a snapshot (send-snapshots.ts) as one text. */
const contentInPostgres = (sql: Sql): Fragment => sql`
  concat_ws(chr(31), c.created_at, coalesce(c.merged_into::text, ''),
    coalesce((string_to_array(${STAGES.join(',')}, ','))[c.stage + 1], ''), c.order_count,
    coalesce((
      select string_agg(sums.text, ',' order by sums.text collate "C") from (
        select r.currency || '=' || trim_scale(r.amount) as text from revenue r
        where r.business_id = c.business_id and r.contact_id = c.id
      ) sums
    ), ''),
    '{' || coalesce((
      select string_agg(to_json(t.key)::text || ':' || (t.value ->> 1), ',' order by t.place)
      from jsonb_each(c.traits) with ordinality as t (key, value, place) where t.value ->> 1 is not null
    ), '') || '}',
    array_to_string(c.tags, chr(30)),
    (
      select concat_ws(chr(31),
        coalesce(string_agg(i.value, chr(30) order by i.proven desc, i.is_primary desc, i.position) filter (where i.kind = 'email'), ''),
        coalesce(string_agg(case when i.phone_read then '+' || i.value else i.value end, chr(30)
          order by i.proven desc, i.is_primary desc, i.position) filter (where i.kind = 'phone'), ''),
        coalesce(string_agg(i.value, chr(30) order by i.proven desc, i.is_primary desc, i.position)
          filter (where i.kind = 'platformCustomerId'), ''))
      from identities i where i.business_id = c.business_id and i.contact_id = c.id
    ),
    ${sql.unsafe(PROFILE_COLUMNS.map((column) => `coalesce(c.${column}, chr(1))`).join(', '))})`

/** The same text from the same columns. */
const CONTENT_IN_CLICKHOUSE = `arrayStringConcat([
  toString(created_ms), ifNull(toString(merged_into), ''), toString(stage), toString(order_count),
  arrayStringConcat(arraySort(arrayMap((c, a) -> concat(toString(c), '=', toString(a)), mapKeys(revenue), mapValues(revenue))), ','),
  custom_fields, arrayStringConcat(tags, char(30)), arrayStringConcat(emails, char(30)), arrayStringConcat(phones, char(30)),
  arrayStringConcat(platform_customer_ids, char(30)),
  ${PROFILE_COLUMNS.map((column) => `ifNull(${column}, char(1))`).join(', ')}
], char(31))`

/** Selects the contacts' ids with their states. */
export const statusOfContacts = (sql: Sql, businessId: string, ids: string[]): Fragment => sql`
  with wanted as (select unnest(${`{${ids.join(',')}}`}::uuid[]) as id),
  waiting as (
    select distinct t.id from outbox o cross join unnest(o.contact_ids) as t (id) join wanted on wanted.id = t.id
    where o.shipped_at is null
  )
  select 'status', w.id, '', case
    when exists (select from waiting where waiting.id = w.id) then 'waiting'
    when exists (select from contacts c where c.business_id = ${businessId} and c.id = w.id) then 'settled'
    when exists (select from erasures e where e.business_id = ${businessId} and e.contact_id = w.id) then 'erased'
    else 'unknown' end
  from wanted w`

/** Returns the number at the beginning of a value of `events`, `statistics`, `contact` or `visitor`. */
export const countOf = (value: string | null): number => Number(value?.split(' ')[0] ?? 0)

function describeStatistic(value: string): string {
  const [count = 0, first = 0, last = 0] = value.split(' ').map(Number)
  return `${count === 1 ? 'once' : `${count} times`}, ${describeTime(first)} to ${describeTime(last)}`
}

const describeTime = (ms: number): string => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms} ms`)

function noteOfEvents(missing: number, inOutbox: number, setAside: number): string {
  if (missing < 0) return `${-missing} that Postgres does not have`
  if (missing === 0) return inOutbox > 0 ? `${inOutbox} differ from those in the outbox` : 'the times differ'
  const older = missing - inOutbox - setAside
  return [
    `${missing} missing`,
    ...(inOutbox > 0 ? [`${inOutbox} of them still in the outbox`] : []),
    ...(setAside > 0 ? [`${setAside} set aside as dead letters`] : []),
    ...(older > 0 ? [`${older} older than the outbox`] : []),
  ].join(', ')
}

export function noteOfState({ postgres, clickhouse }: DifferentFact): string {
  if (clickhouse === null) return 'no snapshot'
  const behind = countOf(postgres) - countOf(clickhouse)
  if (behind > 0) return 'the snapshot is old'
  if (behind < 0) return 'the snapshot is newer than Postgres; perhaps Postgres was restored from a backup'
  return 'the same revision, but different content'
}
