/**
 * Determines which store is wrong. Usually it is ClickHouse, which follows Postgres. But each figure is stored three
 * times. If two copies agree against Postgres, something other than Sluice has altered Postgres, because each save of
 * Sluice increments the contact's revision and ships the new state.
 */
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { quoted } from '../../outbox/look-up-events.ts'
import { countOf } from './contact-kinds.ts'
import { findInOutbox, withMergedIds } from './find-in-outbox.ts'
import { findLost } from './find-lost.ts'
import type { CompareDeps, Different, DifferentFact } from './kind.ts'
import { queryClickHouse } from './query-clickhouse.ts'

/**
 * The values that Postgres should have for one contact. Figures are as in `contact-kinds.ts`; null means that there is
 * none.
 */
export interface Correction {
  id: string
  /** Revision of the snapshot in ClickHouse. The correction is valid while Postgres has the same revision. */
  revision: number
  statistics: { event: string; value: string | null }[]
  revenue: { currency: string; amount: string }[]
  orders: string | null
  /** Identities of the snapshot, the primary one first, if Postgres lacks at least one of them; otherwise empty. */
  identities: { kind: string; value: string; phoneRead: boolean }[]
}

type SnapshotRow = Record<'id' | 'at_revision' | 'orders', string> &
  Record<'emails' | 'phones' | 'customer_ids', string[]> & { amounts: Record<string, string> }

/** Contacts per query. */
const BATCH = 200

/** Returns corrections for the contacts of one business for which Postgres is known to be wrong. */
export async function diagnosePostgres(deps: CompareDeps, different: Different[]): Promise<Correction[]> {
  const suspects = different.filter((one) => one.subject === 'contact' && one.isKnown && isSuspect(one))
  const corrections: Correction[] = []
  for (let at = 0; at < suspects.length && !deps.signal.aborted; at += BATCH)
    corrections.push(...(await diagnoseBatch(deps, suspects.slice(at, at + BATCH))))
  return corrections
}

/**
 * Returns whether ClickHouse has the contact's last state and each of its events once, so that nothing else explains a
 * difference.
 */
function isSuspect({ facts }: Different): boolean {
  const contact = facts.find(({ kind }) => kind === 'contact')
  const isSameRevision = !contact || countOf(contact.postgres) === countOf(contact.clickhouse)
  const concerns = facts.some(({ kind }) => ['events', 'revenue', 'orders', 'contact'].includes(kind))
  return concerns && isSameRevision && !facts.some(({ kind }) => kind === 'merge' || kind === 'doubled')
}

async function diagnoseBatch(deps: CompareDeps, suspects: Different[]): Promise<Correction[]> {
  const businessId = suspects[0]?.businessId ?? ''
  const ids = suspects.map(({ id }) => id)
  const snapshots = new Map((await readSnapshots(deps.clickhouse, businessId, ids)).map((one) => [one.id, one]))
  const missing = await findMissingIdentities(deps.sql, businessId, [...snapshots.values()])
  const corrections = suspects.flatMap(({ id, facts }) => {
    const snapshot = snapshots.get(id)
    return snapshot ? [correct(facts, snapshot, missing.has(id))] : []
  })
  const withFigures = corrections.filter(hasFigures).map(({ id }) => ({ id, businessId }))
  const doubtful = withFigures.length > 0 ? await findDoubtful(deps, businessId, withFigures) : new Set<string>()
  return corrections
    .map((one) => (doubtful.has(one.id) ? { ...one, statistics: [], revenue: [], orders: null } : one))
    .filter((one) => hasFigures(one) || one.identities.length > 0)
}

const hasFigures = ({ statistics, revenue, orders }: Correction): boolean =>
  statistics.length > 0 || revenue.length > 0 || orders !== null

/** Corrects a figure in Postgres if the two copies in ClickHouse agree. */
function correct(facts: DifferentFact[], snapshot: SnapshotRow, lacksIdentities: boolean): Correction {
  const statistics = facts.flatMap(({ kind, name, clickhouse }) => {
    if (kind !== 'events') return []
    const second = facts.find((fact) => fact.kind === 'statistics' && fact.name === name)
    return second && second.clickhouse === clickhouse ? [{ event: name, value: clickhouse }] : []
  })
  const revenue = facts.flatMap(({ kind, name, clickhouse }) => {
    const amount = clickhouse ?? '0'
    return kind === 'revenue' && (snapshot.amounts[name] ?? '0') === amount ? [{ currency: name, amount }] : []
  })
  const orders = facts.find(({ kind }) => kind === 'orders')
  const isOrders = orders && (orders.clickhouse ?? '0') === snapshot.orders
  return {
    id: snapshot.id,
    revision: Number(snapshot.at_revision),
    statistics,
    revenue,
    orders: isOrders ? snapshot.orders : null,
    identities: lacksIdentities ? identitiesOf(snapshot) : [],
  }
}

function identitiesOf({ emails, phones, customer_ids }: SnapshotRow): Correction['identities'] {
  const subject = (kind: string, values: string[]) => values.map((value) => ({ kind, value, phoneRead: false }))
  return [
    ...subject('platformCustomerId', customer_ids),
    ...subject('email', emails),
    ...phones.map((phone) => {
      // A phone with an extension was not read, and begins with a plus sign as well.
      const phoneRead = /^\+\d+$/.test(phone)
      return { kind: 'phone', value: phoneRead ? phone.slice(1) : phone, phoneRead }
    }),
  ]
}

async function readSnapshots(clickhouse: ClickHouseClient, businessId: string, ids: string[]): Promise<SnapshotRow[]> {
  return await queryClickHouse<SnapshotRow>(
    clickhouse,
    `select toString(contact_id) as id, toString(revision) as at_revision, toString(order_count) as orders,
      mapApply((currency, amount) -> (toString(currency), toString(amount)), revenue) as amounts,
      emails, phones, platform_customer_ids as customer_ids
    from contact_snapshots final
    where business_id = '${businessId}' and contact_id in (${quoted(ids)}) and erased = 0 and merged_into is null`,
  )
}

/** Returns contacts whose snapshot has an identity that belongs to no contact in Postgres. */
async function findMissingIdentities(sql: Sql, businessId: string, snapshots: SnapshotRow[]): Promise<Set<string>> {
  const sent = snapshots.flatMap((one) => identitiesOf(one).map(({ kind, value }) => ({ id: one.id, kind, value })))
  const rows = await sql<{ id: string }[]>`
    select distinct x.id from json_to_recordset(${JSON.stringify(sent)}::text::json) as x (id uuid, kind text, value text)
    where not exists (
      select from identities i
      where i.business_id = ${businessId} and i.kind = x.kind collate "C" and i.value = x.value collate "C"
    )`
  return new Set(rows.map(({ id }) => id))
}

/**
 * Returns contacts whose events in ClickHouse are known to be incomplete or wrong: the outbox has some that ClickHouse
 * lacks, or lacks some that ClickHouse has, some became dead letters, or ClickHouse lacks a merge.
 */
async function findDoubtful(deps: CompareDeps, businessId: string, suspects: Pick<Different, 'id' | 'businessId'>[]) {
  const survivors = await withMergedIds(deps.sql, suspects)
  const ids = [...survivors.keys()]
  const events = [...(await findSetAside(deps.sql, ids)), ...(await findLost(deps, businessId, ids))]
  for await (const rows of findInOutbox(deps, ids)) events.push(...rows.flatMap(({ lacking }) => lacking))
  const unmerged = await findUnmerged(deps, businessId, survivors)
  return new Set([...unmerged, ...events.map(({ contact_id }) => survivors.get(contact_id) ?? contact_id)])
}

/**
 * Returns events that ClickHouse could not read and that became dead letters: Postgres counts them, but they are in no
 * timeline.
 */
export const findSetAside = async (sql: Sql, contactIds: string[]) =>
  await sql<{ contact_id: string }[]>`
  select contact_id from dead_letters
  where kind = 'timeline'
    and contact_id in (select json_array_elements_text(${JSON.stringify(contactIds)}::text::json)::uuid)`

/**
 * Returns survivors of merges that ClickHouse does not have. There, the merged events still belong to the other
 * contact.
 */
async function findUnmerged({ clickhouse }: CompareDeps, businessId: string, survivors: Map<string, string>) {
  const rows = await queryClickHouse<{ id: string; survivor: string }>(
    clickhouse,
    `select toString(contact_id) as id, toString(survivor_id) as survivor from contact_redirects final
    where business_id = '${businessId}' and contact_id in (${quoted([...survivors.keys()])}) and erased = 0`,
  )
  const known = new Map(rows.map(({ id, survivor }) => [id, survivor]))
  return [...survivors].flatMap(([id, survivor]) => (id === survivor || known.get(id) === survivor ? [] : [survivor]))
}

/** Returns the reason why Postgres is wrong; undefined when it is not known to be wrong. */
export function reasonToCorrect({ kind, name }: DifferentFact, correction: Correction | undefined): string | undefined {
  if (!correction) return undefined
  const { statistics, revenue, orders, identities } = correction
  if (kind === 'events' || kind === 'statistics')
    return statistics.some(({ event }) => event === name)
      ? 'Postgres is wrong: the timeline and its statistics agree'
      : undefined
  const isAmount = kind === 'revenue' && revenue.some(({ currency }) => currency === name)
  if (isAmount || (kind === 'orders' && orders !== null))
    return 'Postgres is wrong: the timeline and the snapshot agree'
  if (kind !== 'contact') return undefined
  return identities.length > 0
    ? 'Postgres is wrong: it lacks an identity that the snapshot has'
    : 'Postgres is wrong: the timeline and the snapshot agree on revenue and orders'
}
