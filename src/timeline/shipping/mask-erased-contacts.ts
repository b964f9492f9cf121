import { type ErasedContact, type Scrub, beginScrub, continueScrub } from '../../outbox/scrub-outbox.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { insertSnapshots } from './send-snapshots.ts'

/** Number of ids that one round hides. */
const AT_ONCE = 500
/** Number of ids that one walk through the outbox handles: the contacts of each row are compared with all of them. */
const WALK_IDS = 100
/** Milliseconds that one round walks, and rows per step: shipping never waits for long. */
const WALK = { ms: 200, rows: 500 }
/** Higher than any revision of a contact, and exact in a JSON number. */
const LAST_REVISION = Number.MAX_SAFE_INTEGER

interface HideDeps {
  sql: Sql
  clickhouse: ClickHouseClient
}

/**
 * Creates a function that hides erased people from every view of ClickHouse and removes them from the outbox
 * (decisions, "Reading back": erasure). Each call does a part. Afterwards nothing of these people is sent, and
 * `finishErasures` can take its time to delete their rows. Every step can be repeated; `hidden_at` is set last. The
 * function resolves with `more` while a walk is in progress or others wait.
 *
 * Only this process knows how far a walk has come: its successor starts from the beginning.
 */
export function createErasureMask(
  { sql, clickhouse }: HideDeps,
  limits: { ms: number; rows?: number } = WALK,
): () => Promise<'more' | 'done'> {
  let scrub: Scrub | undefined
  return async () => {
    const waiting = await findUnscrubbed(sql)
    // A front door has already done it.
    if (waiting.length === 0) scrub = undefined
    else if (!scrub) {
      await hide(clickhouse, waiting)
      scrub = await beginScrub(sql, waiting)
    }
    if (scrub && (await continueScrub(sql, scrub, limits))) scrub = undefined
    const scrubbed = await findScrubbed(sql)
    await hide(clickhouse, scrubbed)
    await reportHidden(sql, scrubbed)
    return scrub || waiting.length === WALK_IDS || scrubbed.length === AT_ONCE ? 'more' : 'done'
  }
}

const findUnscrubbed = async (sql: Sql): Promise<ErasedContact[]> => sql<ErasedContact[]>`
  select business_id, contact_id from erasures
  where deleted_at is null and scrubbed_at is null
  order by erased_at, contact_id limit ${WALK_IDS}`

/** Erasures that were scrubbed by a walk, or by a front door before it answered. */
const findScrubbed = async (sql: Sql): Promise<ErasedContact[]> => sql<ErasedContact[]>`
  select business_id, contact_id from erasures
  where deleted_at is null and scrubbed_at is not null and hidden_at is null
  order by erased_at, contact_id limit ${AT_ONCE}`

async function hide(clickhouse: ClickHouseClient, people: ErasedContact[]): Promise<void> {
  if (people.length === 0) return
  await insertSnapshots(
    clickhouse,
    people.map(({ business_id, contact_id }) => ({ business_id, contact_id, revision: LAST_REVISION, erased: 1 })),
  )
}

/**
 * Marks people as hidden, but not while a group is in progress, in this worker or in another. The lines of such a group
 * may have been read before the outbox was scrubbed, and could arrive after the deletion. A group that is made later is
 * read from the scrubbed outbox. This also holds for an owner that was paused and has lost its lease: the statement
 * that writes checks the condition in Postgres.
 *
 * Unreadable events may have been set aside from such a group after Postgres had deleted the other dead letters of the
 * person.
 */
async function reportHidden(sql: Sql, people: ErasedContact[]): Promise<void> {
  if (people.length === 0) return
  await sql`
    with hidden as (
      update erasures e set hidden_at = now()
      from json_to_recordset(${JSON.stringify(people)}::text::json) as x (business_id uuid, contact_id uuid)
      where e.business_id = x.business_id and e.contact_id = x.contact_id
        and e.scrubbed_at is not null and e.hidden_at is null
        and not exists (select from outbox where shipped_at is null and group_id is not null)
      returning e.business_id, e.contact_id
    )
    delete from dead_letters d using hidden h
    where d.business_id = h.business_id and d.contact_id = h.contact_id and d.kind = 'timeline'`
}
