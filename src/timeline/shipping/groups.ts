import type { Sql } from '../../stores/postgres.ts'
import { UUID, decodeTimelineRow, readTimelineRow } from '../../outbox/timeline-row.ts'
import type { FaultyLine } from '../../stores/insert-lines.ts'
import { linesOf } from '../../outbox/pack-events.ts'
import { unpackRows } from '../../outbox/unpack-rows.ts'

/** Maximum size of a group: large enough to be cheap in ClickHouse, small enough to be one block in memory. */
export interface GroupLimits {
  /** Also limits the contacts touched, and the visitors. */
  events: number
  bytes: number
}

export const GROUP_LIMITS: GroupLimits = { events: 20_000, bytes: 8 * 1024 * 1024 }

/**
 * A list of outbox rows that goes to ClickHouse as one insert. It never grows; it only loses rows that must not be
 * sent.
 */
export interface Group {
  id: string
  /** JSON lines of `TimelineRow`. */
  lines: string[]
  /** JSON lines of `SegmentChangeRow`. */
  segmentChanges: string[]
  /**
   * True when rows are sent again: the statistics of their contacts have to be checked, too (rebuild-statistics.ts).
   */
  isResent: boolean
  /** True when it also contains rows of visitors. */
  hasVisitors: boolean
  /**
   * True when another group should follow at once: more rows wait than one group may hold, or this group was stamped
   * earlier and left unfinished.
   */
  moreWaits: boolean
}

/**
 * Returns the group to ship next, or undefined when nothing waits. An unfinished group comes first, with its own id. Otherwise the oldest waiting rows become a new group. It is a list and not a range of
 * ids, since rows commit out of order.
 */
export async function nextGroup(sql: Sql, owner: string, limits: GroupLimits): Promise<Group | undefined> {
  const unfinished = await findUnfinished(sql)
  const stamped = unfinished === undefined ? await stampGroup(sql, owner, limits) : { id: unfinished, moreWaits: true }
  return stamped && { ...stamped, ...(await readGroup(sql, stamped.id)) }
}

export async function findUnfinished(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ group_id: string }[]>`
    select group_id from outbox where shipped_at is null and group_id is not null order by id limit 1`
  return row?.group_id
}

/**
 * Stamps rows with a new group id, in one statement, while the lease is held. Two owners at once would stamp different
 * rows: the condition on `group_id` is checked again on a row that another owner has just stamped. The first row is
 * taken whatever its size. The statement looks at one row more than fits, to find out whether another group follows.
 */
async function stampGroup(
  sql: Sql,
  owner: string,
  limits: GroupLimits,
): Promise<Pick<Group, 'id' | 'moreWaits'> | undefined> {
  const id = crypto.randomUUID()
  const rows = await sql<{ waiting: number }[]>`
    with waiting as (
      select id,
        row_number() over sofar as place,
        sum(greatest(event_count, cardinality(contact_ids), cardinality(visitor_ids))) over sofar as events,
        sum(coalesce(unpacked_bytes, octet_length(events)) + coalesce(octet_length(segment_changes), 0)) over sofar
          as bytes
      from (
        select id, event_count, events, unpacked_bytes, segment_changes, contact_ids, visitor_ids from outbox
        where shipped_at is null and group_id is null and resend is null
        order by id limit ${limits.events + 1}
      ) oldest
      window sofar as (order by id)
    )
    update outbox set group_id = ${id}
    where id in (select id from waiting where place = 1 or (events <= ${limits.events} and bytes <= ${limits.bytes}))
      and group_id is null
      and exists (
        select from timeline_lease
        where owner = ${owner} and lease_until > now() and coalesce(wal_timeline = wal_timeline(), true)
      )
    returning (select count(*) from waiting) as waiting`
  const [row] = rows
  return row && { id, moreWaits: row.waiting > rows.length }
}

interface GroupRow {
  events: string
  segment_changes: string | null
  resend: string[] | null
  visitors: number
}

async function readGroup(sql: Sql, id: string): Promise<Omit<Group, 'id' | 'moreWaits'>> {
  const rows = await sql<GroupRow[]>`
    select events, segment_changes, to_json(resend) as resend, cardinality(visitor_ids) as visitors
    from outbox where group_id = ${id} and shipped_at is null order by id`
  return {
    lines: rows.flatMap(({ events, resend }) => linesOf(events).filter((line) => !resend || isOneOf(resend, line))),
    segmentChanges: rows.flatMap(({ segment_changes: lines }) => lines?.split('\n').filter(Boolean) ?? []),
    isResent: rows.some(({ resend }) => resend !== null),
    hasVisitors: rows.some(({ visitors }) => visitors > 0),
  }
}

const isOneOf = (ids: string[], line: string): boolean => ids.includes(readTimelineRow(line)?.event_id ?? '')

export async function markShipped(sql: Sql, id: string): Promise<void> {
  await sql`update outbox set shipped_at = now(), resend = resend[1:0] where group_id = ${id} and shipped_at is null`
}

/**
 * Moves lines that ClickHouse cannot read from a group to `dead_letters`, in one statement. The group has not been
 * inserted, or its lines would have been readable. So the remaining lines can still be sent under its one token.
 */
export async function setAside(sql: Sql, groupId: string, faulty: FaultyLine[]): Promise<void> {
  const packed = await sql<{ id: number }[]>`
    select id from outbox where group_id = ${groupId} and shipped_at is null and unpacked_bytes is not null`
  await unpackRows(
    sql,
    packed.map(({ id }) => id),
  )
  const letters = JSON.stringify(faulty.map(toDeadLetter))
  const lines = JSON.stringify(faulty.map(({ line }) => line))
  // Another owner may have shipped the group in the meantime, and its people may already be erased. Then nothing is set
  // aside.
  await sql`
    with faulty as (
      select line from json_array_elements_text(${lines}::text::json) as line
    ), left_over as (
      update outbox set (events, event_count) = (
        select coalesce(string_agg(line, E'\n' order by place), ''), count(*)
        from string_to_table(events, E'\n') with ordinality as kept(line, place)
        where line <> '' and line not in (select line from faulty)
      )
      where group_id = ${groupId} and shipped_at is null
      returning id
    )
    insert into dead_letters (id, business_id, contact_id, partition, stream_id, kind, reason, payload, received_at)
    select id, business_id, contact_id, 'timeline', ${groupId}, 'timeline', reason, payload, received_at
    from json_to_recordset(${letters}::text::json) as x(id uuid, business_id uuid, contact_id uuid, reason text,
      payload text, received_at bigint)
    where exists (select from left_over)`
}

/** Keeps the ids, as far as they can be read, for erasures and for the operator. */
function toDeadLetter({ line, reason }: FaultyLine) {
  const row = readRow(line)
  const uuid = (value: unknown) => (typeof value === 'string' && UUID.test(value) ? value : null)
  return {
    id: crypto.randomUUID(),
    business_id: uuid(row.business_id),
    contact_id: uuid(row.contact_id),
    reason,
    payload: line,
    received_at: Number.isSafeInteger(row.received_ms) ? row.received_ms : null,
  }
}

function readRow(line: string): Partial<Record<string, unknown>> {
  try {
    return { ...decodeTimelineRow(line) }
  } catch {
    return {}
  }
}
