/** Finds the identities of the people to whom lost events belong, in ClickHouse's snapshots and in Postgres. */
import type { Sql } from '../../stores/postgres.ts'
import { quoted } from '../../outbox/look-up-events.ts'
import type { CompareDeps } from '../verify/kind.ts'
import { queryClickHouse } from '../verify/query-clickhouse.ts'

/** Identities in order, the primary one first. */
export interface PersonIdentities {
  emails: string[]
  phones: string[]
  platform_customer_ids: string[]
}

type Kind = keyof PersonIdentities
const KINDS: Record<string, Kind> = { email: 'emails', phone: 'phones', platformCustomerId: 'platform_customer_ids' }

/**
 * Returns for each contact the primary identities in its snapshot, and the identities in Postgres that a server has
 * sent for it or for contacts that were merged into it. Omits identities that only a page has sent, as far as Postgres
 * knows: after an import they would count as proven.
 *
 * @param members ids by contact: its own, and those merged into it in ClickHouse
 */
export async function readPeople(
  deps: CompareDeps,
  businessId: string,
  members: Map<string, string[]>,
): Promise<Map<string, PersonIdentities>> {
  const snapshots = await readSnapshots(deps, businessId, [...members.keys()])
  const known = Map.groupBy(await readKnown(deps.sql, businessId, [...members.values()].flat()), ({ id }) => id)
  const inSnapshots = [...snapshots.values()].flatMap((one) => Object.values(KINDS).flatMap((kind) => one[kind]))
  const unproven = await readUnproven(deps.sql, businessId, inSnapshots)
  return new Map(
    [...members].map(([id, ids]) => {
      const proven = ids.flatMap((member) => known.get(member) ?? [])
      const snapshot = snapshots.get(id)
      const identitiesOf = (kind: Kind) => {
        const primary = (snapshot?.[kind] ?? []).slice(0, 1).filter((value) => !unproven.has(`${kind} ${value}`))
        return [...new Set([...primary, ...proven.flatMap((one) => (KINDS[one.kind] === kind ? [one.value] : []))])]
      }
      return [
        id,
        {
          emails: identitiesOf('emails'),
          phones: identitiesOf('phones'),
          platform_customer_ids: identitiesOf('platform_customer_ids'),
        },
      ]
    }),
  )
}

async function readSnapshots(
  deps: CompareDeps,
  businessId: string,
  ids: string[],
): Promise<Map<string, PersonIdentities>> {
  const rows = await queryClickHouse<PersonIdentities & { id: string }>(
    deps.clickhouse,
    `select toString(contact_id) as id, emails, phones, platform_customer_ids from contact_snapshots final
    where business_id = '${businessId}' and contact_id in (${quoted(ids)}) and erased = 0`,
  )
  return new Map(rows.map(({ id, ...person }) => [id, person]))
}

interface Identity {
  id: string
  kind: string
  value: string
}

/** The value as an import sends it: a normalised phone gets a plus sign. */
const VALUE = `case when phone_read then '+' || value else value end`

async function readKnown(sql: Sql, businessId: string, ids: string[]): Promise<Identity[]> {
  return await sql<Identity[]>`
    select contact_id as id, kind, ${sql.unsafe(VALUE)} as value from identities
    where business_id = ${businessId} and contact_id = any(${`{${ids.join(',')}}`}::uuid[]) and proven
    order by is_primary desc, position`
}

async function readUnproven(sql: Sql, businessId: string, values: string[]): Promise<Set<string>> {
  const stored = values.flatMap((value) => [value, value.replace(/^\+/, '')])
  const rows = await sql<Omit<Identity, 'id'>[]>`
    select kind, ${sql.unsafe(VALUE)} as value from identities
    where business_id = ${businessId} and not proven
      and value in (select json_array_elements_text(${JSON.stringify(stored)}::text::json) collate "C")`
  return new Set(rows.map(({ kind, value }) => `${KINDS[kind]} ${value}`))
}
