import type { Sql } from '../../stores/postgres.ts'
import { unpackRows } from '../../outbox/unpack-rows.ts'

/** A person, with the statistics in Postgres. */
export interface Person {
  businessId: string
  /** The id of the survivor. */
  contactId: string
  /** The id of the survivor and all ids that were merged into it. */
  ids: string[]
  statistics: Expected[]
}

export interface Expected {
  event: string
  /** Epoch ms. */
  firstAt: number
  lastAt: number
  count: number
  /** Number of these events that still have to be shipped. */
  waiting: number
}

export interface Contact {
  business_id: string
  contact_id: string
}

/** Reads the contacts of a group, always in the same order. */
export async function readResent(sql: Sql, groupId: string): Promise<Contact[]> {
  return await sql<Contact[]>`
    select distinct t.business_id, t.contact_id
    from outbox o, unnest(o.business_ids, o.contact_ids) as t (business_id, contact_id)
    where o.group_id = ${groupId} and o.shipped_at is null
    order by t.business_id, t.contact_id`
}

interface PersonRow {
  business_id: string
  contact_id: string
  ids: string[]
  statistics: [event: string, firstAt: number, lastAt: number, count: number, waiting: number][] | null
  /** Waiting rows that are packed and could not be searched; null when there are none. */
  packed: number[] | null
}

/**
 * Reads the people that these contacts belong to, with the recorded and the waiting events. One statement, so that all
 * are as of one instant.
 */
export async function readExpected(sql: Sql, contacts: Contact[]): Promise<Person[]> {
  for (;;) {
    const rows = await readPeople(sql, contacts)
    const packed = rows[0]?.packed
    if (!packed) return rows.map(toPerson)
    await unpackRows(sql, packed)
  }
}

async function readPeople(sql: Sql, contacts: Contact[]): Promise<PersonRow[]> {
  return await sql<PersonRow[]>`
    with people as (
      select distinct c.business_id, coalesce(c.merged_into, c.id) as id
      from json_to_recordset(${JSON.stringify(contacts)}::text::json) as x (business_id uuid, contact_id uuid)
      join contacts c on c.business_id = x.business_id and c.id = x.contact_id
    ),
    theirs as (
      select business_id, id as survivor, id from people
      union all
      select p.business_id, p.id, c.id from people p
      join contacts c on c.business_id = p.business_id and c.merged_into = p.id
    ),
    touching as (
      select distinct o.id from outbox o cross join unnest(o.contact_ids) as c (id) join theirs t on t.id = c.id
      where o.shipped_at is null and o.resend is null and o.events <> ''
    ),
    waiting as (
      select t.survivor, l.line ->> 'event' as event, count(*) as count
      from (
        select string_to_table(events, E'\n')::json as line from outbox
        where id in (select id from touching) and shipped_at is null and unpacked_bytes is null
      ) l
      join theirs t on t.id = (l.line ->> 'contact_id')::uuid
      group by 1, 2
    )
    select p.business_id, p.id as contact_id, ids.ids, known.statistics, (
      select json_agg(id) from outbox
      where id in (select id from touching) and shipped_at is null and unpacked_bytes is not null
    ) as packed
    from people p
    cross join lateral (select json_agg(t.id) as ids from theirs t where t.survivor = p.id) ids
    cross join lateral (
      select json_agg(json_build_array(s.event, s.first_at, s.last_at, s.count, coalesce(w.count, 0)) order by s.event)
        as statistics
      from event_statistics s left join waiting w on w.survivor = p.id and w.event = s.event
      where s.business_id = p.business_id and s.contact_id = p.id
    ) known
    order by p.business_id, p.id`
}

function toPerson({ business_id, contact_id, ids, statistics }: PersonRow): Person {
  return {
    businessId: business_id,
    contactId: contact_id,
    ids,
    statistics: (statistics ?? []).map(([event, firstAt, lastAt, count, waiting]) => ({
      event,
      firstAt,
      lastAt,
      count,
      waiting,
    })),
  }
}
