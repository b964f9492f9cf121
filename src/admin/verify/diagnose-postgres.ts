/**
 * Finds out which store is wrong. Usually it is ClickHouse, which follows Postgres. But each figure is stored three times. If
 * two copies agree against Postgres, something other than Sluice altered Postgres: each save of Sluice raises the contact's
 * revision and ships the new state.
 */
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { quoted } from '../../timeline/look-up-events.ts'
import { queryClickHouse } from './clickhouse-facts.ts'
import type { CompareDeps, Different } from './compare-one-by-one.ts'
import { findInOutbox } from './find-in-outbox.ts'
import { findLost } from './find-lost.ts'

/** The values that Postgres should have for one contact. Figures are as in `facts.ts`; null means none. */
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

interface SnapshotRow {
  id: string
  at_revision: string
  orders: string
  amounts: Record<string, string>
  emails: string[]
  phones: string[]
  customer_ids: string[]
}

/** Contacts per query. */
const BATCH = 200

/** Corrections of the contacts of one business for which Postgres is known to be wrong. */
export async function diagnosePostgres(deps: CompareDeps, different: Different[]): Promise<Correction[]> {
  const suspects = different.filter((one) => one.subject === 'contact' && one.isKnown && isSuspect(one))
  const corrections: Correction[] = []
  for (let at = 0; at < suspects.length && !deps.signal.aborted; at += BATCH)
    corrections.push(...(await diagnoseBatch(deps, suspects.slice(at, at + BATCH))))
  return corrections
}

/** Whether ClickHouse has the contact's last state and each of its events once, so that nothing else explains a difference. */
function isSuspect({ facts }: Different): boolean {
  const contact = facts.find(({ kind }) => kind === 'contact')
  const isSameRevision = !contact || revisionOf(contact.postgres) === revisionOf(contact.clickhouse)
  const concerns = facts.some(({ kind }) => ['events', 'revenue', 'orders', 'contact'].includes(kind))
  return concerns && isSameRevision && !facts.some(({ kind }) => kind === 'merge' || kind === 'doubled')
}

const revisionOf = (value: string | null): string | undefined => value?.split(' ')[0]

async function diagnoseBatch(deps: CompareDeps, suspects: Different[]): Promise<Correction[]> {
  const businessId = suspects[0]?.businessId ?? ''
  const ids = suspects.map(({ id }) => id)
  const snapshots = new Map((await readSnapshots(deps.clickhouse, businessId, ids)).map((one) => [one.id, one]))
  const missing = await findMissingIdentities(deps.sql, businessId, [...snapshots.values()])
  const corrections = suspects.flatMap(({ id, facts }) => {
    const snapshot = snapshots.get(id)
    return snapshot ? [correct(facts, snapshot, missing.has(id))] : []
  })
  const withFigures = corrections.filter(hasFigures)
  const doubtful = withFigures.length > 0 ? await findDoubtful(deps, businessId, withFigures) : new Set<string>()
  return corrections
    .map((one) => (doubtful.has(one.id) ? { ...one, statistics: [], revenue: [], orders: null } : one))
    .filter((one) => hasFigures(one) || one.identities.length > 0)
}

const hasFigures = ({ statistics, revenue, orders }: Correction): boolean =>
  statistics.length > 0 || revenue.length > 0 || orders !== null

/** Corrects a figure in Postgres if the two copies in ClickHouse agree. */
function correct(facts: Different['facts'], snapshot: SnapshotRow, lacksIdentities: boolean): Correction {
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
    ...phones.map((phone) => ({ kind: 'phone', value: phone.replace(/^\+/, ''), phoneRead: phone.startsWith('+') })),
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

/** Contacts whose snapshot has an identity that belongs to no contact in Postgres. */
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
 * Contacts whose events in ClickHouse are known to be incomplete or wrong: the outbox has some that ClickHouse lacks, or lacks
 * some that ClickHouse has, some became dead letters, or ClickHouse lacks a merge.
 */
async function findDoubtful(deps: CompareDeps, businessId: string, suspects: Correction[]): Promise<Set<string>> {
  const list = `{${suspects.map(({ id }) => id).join(',')}}`
  const merged = await deps.sql<{ id: string; survivor: string }[]>`
    select id, coalesce(merged_into, id) as survivor from contacts
    where business_id = ${businessId} and (id = any(${list}::uuid[]) or merged_into = any(${list}::uuid[]))`
  const survivors = new Map(merged.map(({ id, survivor }) => [id, survivor]))
  const setAside = await deps.sql<{ id: string }[]>`
    select contact_id as id from dead_letters
    where business_id = ${businessId} and kind = 'timeline'
      and contact_id in (select json_array_elements_text(${JSON.stringify([...survivors.keys()])}::text::json)::uuid)`
  const doubtful = new Set(setAside.map(({ id }) => survivors.get(id) ?? id))
  const contactIds = [...survivors.keys()]
  for (const survivor of await findUnmerged(deps, businessId, survivors)) doubtful.add(survivor)
  for await (const rows of findInOutbox(deps, contactIds))
    for (const { contact_id } of rows.flatMap(({ lacking }) => lacking))
      doubtful.add(survivors.get(contact_id) ?? contact_id)
  for (const { contact_id } of await findLost(deps, businessId, contactIds))
    doubtful.add(survivors.get(contact_id) ?? contact_id)
  return doubtful
}

/** Survivors of a merge that ClickHouse does not have: there, the merged events still belong to the other contact. */
async function findUnmerged(
  { clickhouse }: CompareDeps,
  businessId: string,
  survivors: Map<string, string>,
): Promise<string[]> {
  const rows = await queryClickHouse<{ id: string; survivor: string }>(
    clickhouse,
    `select toString(contact_id) as id, toString(survivor_id) as survivor from contact_redirects final
    where business_id = '${businessId}' and contact_id in (${quoted([...survivors.keys()])}) and erased = 0`,
  )
  const known = new Map(rows.map(({ id, survivor }) => [id, survivor]))
  return [...survivors].flatMap(([id, survivor]) => (id === survivor || known.get(id) === survivor ? [] : [survivor]))
}
