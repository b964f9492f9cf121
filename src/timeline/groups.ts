import type { Sql } from '../stores/postgres.ts'
import { UUID, decodeTimelineRow, readTimelineRow } from '../outbox/timeline-row.ts'
import type { FaultyLine } from '../stores/insert-lines.ts'
import { linesOf } from '../outbox/pack-events.ts'
import { unpackRows } from '../outbox/unpack-rows.ts'

/** What one group holds at most: large enough to be cheap in ClickHouse, small enough to be one block in memory. */
export interface GroupLimits {
  /** Also of contacts touched, and of visitors. */
  events: number
  bytes: number
}

export const GROUP_LIMITS: GroupLimits = { events: 20_000, bytes: 8 * 1024 * 1024 }

/** A list of outbox rows that goes to ClickHouse as one insert. It never changes, but by losing what must not be sent. */
export interface Group {
  id: string
  /** JSON lines of `TimelineRow`. */
  lines: string[]
  /** JSON lines of `SegmentChangeRow`. */
  segmentChanges: string[]
  /** ClickHouse had it before; its contacts' statistics are to be checked too (see stamp-resent.ts). */
  isResent: boolean
  /** It has rows of visitors, too. */
  hasVisitors: boolean
  /** Another is to follow at once: what waits is more than one may hold, or this one has waited itself. */
  moreWaits: boolean
}

/**
 * The group to ship next, or undefined when nothing waits. One that an earlier life left unfinished comes first, with its
 * own id. Else the oldest waiting rows become a new group: a list and not a range of ids, since rows commit out of order.
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
 * Stamps a new group id, in one statement, while the lease is held. Two owners at once would stamp different rows: the
 * condition on `group_id` is checked again on a row that another has just stamped. The first row is taken whatever its size.
 * One row more is looked at than can go, to know of the next group.
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
      and exists (select from timeline_lease where owner = ${owner} and lease_until > now())
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
 * Moves lines that ClickHouse cannot read out of a group and into `dead_letters`, in one statement. The group has not
 * been inserted, or it would have been readable; so what is left of it still goes under its one token.
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
  // Another owner may have shipped it meanwhile, and the people in it may be erased by now: then nothing is set aside.
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

/** The addresses are kept for erasure and for the operator, as far as they can be read at all. */
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
