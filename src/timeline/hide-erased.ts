import { scrubOutbox } from '../contacts/scrub-outbox.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import { insertSnapshots } from './send-snapshots.ts'

/** Ids that one round hides. */
const AT_ONCE = 500
/** Higher than any revision that a contact can have, and exact in a JSON number. */
const LAST_REVISION = Number.MAX_SAFE_INTEGER

interface Erased {
  business_id: string
  contact_id: string
  scrubbed: boolean
}

/**
 * Hides erased people from every view of ClickHouse and takes them out of the outbox (decisions, "Reading back": erasure):
 * nothing of theirs is sent afterwards, and their rows can be deleted at leisure (`finishErasures`). Every step can be
 * repeated; `hidden_at` is set last. Returns the number of ids.
 */
export async function hideErased({ sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient }): Promise<number> {
  const erased = await sql<Erased[]>`
    select business_id, contact_id, scrubbed_at is not null as scrubbed from erasures
    where deleted_at is null and hidden_at is null order by business_id, contact_id limit ${AT_ONCE}`
  if (erased.length === 0) return 0
  await insertSnapshots(
    clickhouse,
    erased.map(({ business_id, contact_id }) => ({ business_id, contact_id, revision: LAST_REVISION, erased: 1 })),
  )
  for (const [businessId, theirs] of Map.groupBy(erased, ({ business_id }) => business_id)) {
    await scrub(sql, businessId, theirs)
    await tellHidden(sql, businessId, theirs)
  }
  return erased.length
}

/**
 * Not while a group is under way, whoever has it: its lines may have been read before the outbox was scrubbed, and arrive
 * behind the deletion. A group that is made afterwards is read from what was scrubbed. This holds also for an owner that was
 * paused, and whose lease another has by now: it is Postgres that looks, in the statement that writes.
 *
 * Events that ClickHouse could not read may have been set aside out of such a group, after Postgres had deleted the person's
 * other dead letters.
 */
async function tellHidden(sql: Sql, businessId: string, erased: Erased[]): Promise<void> {
  await sql`
    with hidden as (
      update erasures set hidden_at = now()
      where business_id = ${businessId} and contact_id = any(${idList(erased)}::uuid[])
        and scrubbed_at is not null and hidden_at is null
        and not exists (select from outbox where shipped_at is null and group_id is not null)
      returning business_id, contact_id
    )
    delete from dead_letters d using hidden h
    where d.business_id = h.business_id and d.contact_id = h.contact_id and d.kind = 'timeline'`
}

async function scrub(sql: Sql, businessId: string, erased: Erased[]): Promise<void> {
  const waiting = erased.filter(({ scrubbed }) => !scrubbed)
  if (waiting.length === 0) return
  const ids = waiting.map(({ contact_id }) => contact_id)
  await scrubOutbox(sql, businessId, ids)
}

const idList = (erased: Erased[]) => `{${erased.map(({ contact_id }) => contact_id).join(',')}}`
