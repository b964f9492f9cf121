import { scrubOutbox } from '../contacts/scrub-outbox.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import { insertStates } from './insert-states.ts'
import { LONG_STATEMENT } from './look-up-events.ts'
import { insertSnapshots } from './send-snapshots.ts'
import { textLiteral } from './text-literal.ts'

/** Ids that one round erases; each table is rewritten once a round, not once an id. */
const AT_ONCE = 500
/** Higher than any revision that a contact can have, and exact in a JSON number. */
const LAST_REVISION = Number.MAX_SAFE_INTEGER

interface Erasure {
  business_id: string
  contact_id: string
  scrubbed: boolean
  /** Browsers that were this person's alone, and up to which revision of them. */
  visitor_ids: string[]
  /** Browsers of others too: the newer revision of them is without this person. */
  shared_visitor_ids: string[]
  visitor_revision: number | null
}

/**
 * Finishes what Postgres has already forgotten (decisions, "Reading back": erasure): out of the outbox, then out of
 * ClickHouse. It is to run between two groups, when nothing is under way, so that no event arrives after its deletion.
 * Every step can be repeated; `deleted_at` is set last. Returns the number of ids.
 */
export async function finishErasures(deps: { sql: Sql; clickhouse: ClickHouseClient }): Promise<number> {
  const { sql, clickhouse } = deps
  const erasures = await sql<Erasure[]>`
    select business_id, contact_id, scrubbed_at is not null as scrubbed, to_json(visitor_ids) as visitor_ids,
      to_json(shared_visitor_ids) as shared_visitor_ids, visitor_revision
    from erasures where deleted_at is null order by business_id, contact_id limit ${AT_ONCE}`
  const byBusiness = Map.groupBy(erasures, (erasure) => erasure.business_id)
  for (const [businessId, ofBusiness] of byBusiness) {
    await dropLateLetters(sql, businessId, ofBusiness)
    await scrub(sql, businessId, ofBusiness)
  }
  if (erasures.length > 0) await deleteFromClickHouse(clickhouse, erasures)
  await forgetVisitors(clickhouse, erasures)
  for (const [businessId, ofBusiness] of byBusiness) {
    await sql`update erasures set deleted_at = now(), visitor_ids = '{}', shared_visitor_ids = '{}'
      where business_id = ${businessId} and contact_id = any(${idList(ofBusiness)}::uuid[])`
  }
  return erasures.length
}

/** Events that ClickHouse could not read, set aside after Postgres had deleted the person's other dead letters. */
async function dropLateLetters(sql: Sql, businessId: string, erasures: Erasure[]): Promise<void> {
  await sql`delete from dead_letters
    where business_id = ${businessId} and contact_id = any(${idList(erasures)}::uuid[]) and kind = 'timeline'`
}

async function scrub(sql: Sql, businessId: string, erasures: Erasure[]): Promise<void> {
  const waiting = erasures.filter(({ scrubbed }) => !scrubbed)
  if (waiting.length === 0) return
  const ids = waiting.map(({ contact_id }) => contact_id)
  await scrubOutbox(sql, businessId, ids)
}

/**
 * First the mark that hides the person from every view, whatever else should still arrive, then the rows themselves:
 * a mutation rewrites the parts that hold them, where a lightweight delete would only hide them.
 */
async function deleteFromClickHouse(clickhouse: ClickHouseClient, erasures: Erasure[]): Promise<void> {
  await insertSnapshots(
    clickhouse,
    erasures.map(({ business_id, contact_id }) => ({ business_id, contact_id, revision: LAST_REVISION, erased: 1 })),
  )
  const ids = erasures.map(({ business_id, contact_id }) => `('${business_id}', '${contact_id}')`).join(', ')
  const where = `(business_id, contact_id) in (${ids})`
  for (const condition of [
    `events delete where ${where}`,
    `event_statistics delete where ${where}`,
    `contact_snapshots delete where erased = 0 and ${where}`,
    // In a browser of others too the time stays, and is nobody's.
    `visitor_links update contact_id = defaultValueOfTypeName('UUID'), erased = 1 where ${where}`,
  ]) {
    const query = `alter table ${condition} settings mutations_sync = 2`
    await clickhouse.command({ query, clickhouse_settings: LONG_STATEMENT })
  }
}

/** Hidden first, as people are; a browser that comes back has a higher revision, and is a stranger. */
async function forgetVisitors(clickhouse: ClickHouseClient, erasures: Erasure[]): Promise<void> {
  const marks = erasures.flatMap(({ business_id, visitor_ids, visitor_revision: revision }) =>
    visitor_ids.map((visitor_id) => JSON.stringify({ business_id, visitor_id, revision, erased: 1 })),
  )
  const own = erasures.flatMap((erasure) => olderOf(erasure, erasure.visitor_ids))
  const shared = erasures.flatMap((erasure) => olderOf(erasure, erasure.shared_visitor_ids))
  await deleteVisitors(clickhouse, 'visitor_links', own)
  for (const table of ['visitors', 'visitor_touches'] as const) {
    await insertStates(clickhouse, table, marks)
    await deleteVisitors(
      clickhouse,
      table,
      [...own, ...shared].map((where) => `erased = 0 and ${where}`),
    )
  }
}

function olderOf({ business_id, visitor_revision }: Erasure, visitorIds: string[]): string[] {
  if (visitorIds.length === 0) return []
  // Callers' own text.
  const ids = visitorIds.map(textLiteral).join(', ')
  return [`business_id = '${business_id}' and revision < ${visitor_revision} and visitor_id in (${ids})`]
}

async function deleteVisitors(clickhouse: ClickHouseClient, table: string, those: string[]): Promise<void> {
  if (those.length === 0) return
  const query = `alter table ${table} delete where (${those.join(') or (')}) settings mutations_sync = 2`
  await clickhouse.command({ query, clickhouse_settings: LONG_STATEMENT })
}

const idList = (erasures: Erasure[]) => `{${erasures.map(({ contact_id }) => contact_id).join(',')}}`
