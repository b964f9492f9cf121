import { inSnakeCase } from '../../stores/in-snake-case.ts'
import { arrayLiteral } from '../../stores/write-columns.ts'
import type { DoneRefresh } from '../../rules/segments/windows/window-refresh.ts'
import type { Sql } from '../../stores/postgres.ts'

/** A contact whose counts and sums have to be read. */
export interface WindowContact {
  business_id: string
  id: string
  /** Ids of the contacts that were merged into it. */
  merged_ids: string[]
  /** Epoch milliseconds. Everything before it is known. */
  from: number
  /** Epoch milliseconds at which an event was received that the timeline may not have yet. Null: there is none. */
  pending_at: number | null
  cause: 'bulk' | 'live' | 'merge' | null
  is_new: boolean
  /** The requests that reading this contact answers. */
  outbox_ids: number[]
}

interface Choice {
  /** Epoch milliseconds. */
  now: number
  /** Businesses to leave out. */
  except: readonly string[]
  most: number
}

/**
 * Returns the contacts that a save asked to be read, once the timeline has everything that this save and all earlier
 * ones recorded for them, and the contacts whose windows change by time. All of it is as of one moment. The outbox is
 * shipped in the order of its ids, so everything below the first waiting row is in ClickHouse.
 */
export async function chooseContacts(sql: Sql, { now, except, most }: Choice): Promise<WindowContact[]> {
  const excluded = arrayLiteral([...except])
  return await sql<WindowContact[]>`
    with horizon as materialized (
      select coalesce(
        (select o.id from outbox o where o.shipped_at is null and o.resend is null order by o.id limit 1),
        9223372036854775807
      ) as id
    ), asked as materialized (
      select business_id, contact_id from segment_window_refreshes c
      where outbox_id < (select id from horizon) and business_id <> all (${excluded}::text::uuid[])
      order by outbox_id limit ${most}
    ), due as materialized (
      select business_id, contact_id from segment_windows w
      where next_at <= ${now} and business_id <> all (${excluded}::text::uuid[]) and not exists (
        select from segment_window_refreshes c
        where c.business_id = w.business_id and c.contact_id = w.contact_id and c.outbox_id >= (select id from horizon)
      )
      order by next_at limit ${most}
    ), chosen as materialized (
      select business_id, contact_id from asked union select business_id, contact_id from due
    )
    select chosen.business_id, chosen.contact_id as id,
      to_json(array(
        select l.id from contacts l where l.business_id = chosen.business_id and l.merged_into = chosen.contact_id
      )) as merged_ids,
      least(requests.received_at, (
        select min(w.next_at) from segment_windows w
        where w.business_id = chosen.business_id and w.contact_id = chosen.contact_id
      )) as from,
      requests.pending_at, requests.cause, coalesce(requests.is_new, false) as is_new, coalesce(requests.outbox_ids, '[]') as outbox_ids
    from chosen cross join lateral (
      select min(c.received_at) filter (where c.outbox_id < horizon.id) as received_at,
        min(c.received_at) filter (where c.outbox_id >= horizon.id) as pending_at,
        max(c.cause) filter (where c.outbox_id < horizon.id) as cause,
        bool_or(c.is_new) filter (where c.outbox_id < horizon.id) as is_new,
        json_agg(c.outbox_id) filter (where c.outbox_id < horizon.id) as outbox_ids
      from segment_window_refreshes c cross join horizon
      where c.business_id = chosen.business_id and c.contact_id = chosen.contact_id
    ) requests`
}

/** Returns the requests that are answered when the contact has been read. */
export const refreshesOf = ({ business_id, id, outbox_ids }: WindowContact): DoneRefresh[] =>
  outbox_ids.map((outboxId) => ({ businessId: business_id, contactId: id, outboxId }))

export async function removeRefreshes(sql: Sql, contacts: readonly WindowContact[]): Promise<void> {
  const done = contacts.flatMap(refreshesOf).map((refresh) => inSnakeCase(refresh))
  if (done.length > 0) await sql`select remove_window_refreshes(${JSON.stringify(done)}::text::json)`
}

/** Returns the next instant at which time changes a window (epoch milliseconds), or null. */
export async function findNextDue(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ next_at: number }[]>`
    select next_at from segment_windows where next_at is not null order by next_at limit 1`
  return row?.next_at ?? null
}
