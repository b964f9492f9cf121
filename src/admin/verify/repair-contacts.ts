/**
 * Repairs contacts that differ: corrects Postgres, and requests that their state and events are sent to ClickHouse
 * again.
 */
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { quoted } from '../../outbox/look-up-events.ts'
import { requestResync } from '../../timeline/resync/request-resync.ts'
import { EVENT_COLUMNS, type TimelineRow } from '../../outbox/timeline-row.ts'
import { countOf, isRepairedBy } from './contact-kinds.ts'
import { correctPostgres } from './correct-postgres.ts'
import { diagnosePostgres } from './diagnose-postgres.ts'
import { withMergedIds } from './find-in-outbox.ts'
import type { Different, RepairCounts, RepairDeps } from './kind.ts'
import { queryClickHouse } from './query-clickhouse.ts'
import { MAX_PENDING, waitUntilRepaired } from './with-shipper.ts'

/** Contacts per row of the outbox, contacts whose events are compared per query, and events per query. */
const CONTACTS = 1000
const DOUBLED = 200
const EVENTS = 1000

export async function repairContacts(
  deps: RepairDeps,
  businessId: string,
  known: Different[],
): Promise<Partial<RepairCounts>> {
  // Corrects Postgres first, because everything that is sent again comes from Postgres.
  const corrected = await correctPostgres(deps.writer, businessId, await diagnosePostgres(deps, known))
  const isCorrected = new Set(corrected)
  const stale = known.filter((one) => isRepairedBy('state', one) || isCorrected.has(one.id))
  const revisions = new Map(stale.map((one) => [one.id, revisionInClickHouse(one)]))
  const contacts = [...(await withMergedIds(deps.sql, stale)).keys()].map((id) => ({
    id,
    revision: revisions.get(id) ?? 0,
  }))
  const doubled = known.filter((one) => isRepairedBy('copies', one))
  return {
    corrected: corrected.length,
    copies: await resendDoubled(deps, businessId, doubled),
    contacts: await resendContacts(deps.writer, businessId, contacts),
  }
}

const revisionInClickHouse = ({ facts }: Different): number =>
  countOf(facts.find(({ kind }) => kind === 'contact')?.clickhouse ?? null)

interface Revised {
  id: string
  revision: number
}

/**
 * Ships snapshots and statistics of contacts again. If ClickHouse has a higher revision than a Postgres that was
 * restored from a backup, it would ignore the new snapshot, so the contact is first raised above that revision.
 */
async function resendContacts(sql: Sql, businessId: string, contacts: Revised[]): Promise<number> {
  let sent = 0
  for (let at = 0; at < contacts.length; at += CONTACTS) {
    const some = contacts.slice(at, at + CONTACTS).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    await raiseRevisions(sql, businessId, some)
    const ids = some.map(({ id }) => id)
    sent += await requestResync(sql, businessId, ids)
  }
  return sent
}

async function raiseRevisions(sql: Sql, businessId: string, contacts: Revised[]): Promise<void> {
  await sql`
    with locked as (
      select c.id, x.revision from json_to_recordset(${JSON.stringify(contacts)}::text::json) as x (id uuid, revision bigint)
      join contacts c on c.business_id = ${businessId} and c.id = x.id
      where x.revision > c.revision and x.revision < ${Number.MAX_SAFE_INTEGER}
      order by c.id for no key update of c
    )
    update contacts c set revision = locked.revision + 1 from locked where c.business_id = ${businessId} and c.id = locked.id`
}

/**
 * Repairs events of which ClickHouse has several equal copies: puts one copy into the outbox, which the shipper sends
 * after it has deleted all of them. Returns the number of events.
 */
async function resendDoubled(deps: RepairDeps, businessId: string, doubled: Different[]): Promise<number> {
  let sent = 0
  for (let at = 0; at < doubled.length; at += DOUBLED) {
    const ids = [...(await withMergedIds(deps.sql, doubled.slice(at, at + DOUBLED))).keys()]
    for (let after: string | undefined = ''; after !== undefined;) {
      const copies: Copy[] = await readCopies(deps.clickhouse, businessId, ids, after)
      const equalCopies = copies.filter(({ is_alike }) => is_alike === 1).map(({ is_alike: _, ...row }) => row)
      if (equalCopies.length > 0)
        await requestResync(
          deps.writer,
          businessId,
          [...new Set(equalCopies.map((row) => row.contact_id))],
          equalCopies,
        )
      sent += equalCopies.length
      after = copies.at(-1)?.event_id
    }
    await waitUntilRepaired(deps, MAX_PENDING)
  }
  return sent
}

/** Columns that are equal in all copies of an event. The other columns may differ. */
const COPY_KEY: (keyof TimelineRow)[] = ['business_id', 'contact_id', 'event_id', 'event', 'occurred_ms']

type Copy = TimelineRow & { is_alike: 0 | 1 }

async function readCopies(clickhouse: ClickHouseClient, businessId: string, contactIds: string[], after: string) {
  const others = EVENT_COLUMNS.filter((column) => !COPY_KEY.includes(column))
  const columns = others.map(
    (column) => `${column === 'counted' ? 'toString(any(counted))' : `any(${column})`} as ${column}`,
  )
  return await queryClickHouse<Copy>(
    clickhouse,
    `select ${COPY_KEY.join(', ')}, ${columns.join(', ')},
      uniqExact((${others.map((column) => `e.${column}`).join(', ')})) = 1 as is_alike
    from events as e
    where business_id = '${businessId}' and contact_id in (${quoted(contactIds)}) and toString(event_id) > '${after}'
    group by ${COPY_KEY.join(', ')} having count() > 1
    order by toString(event_id) limit ${EVENTS}
    settings output_format_json_quote_64bit_integers = 0`,
  )
}
