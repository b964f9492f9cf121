import type { Sql } from '../../stores/postgres.ts'

/** A person with all ids they have had. */
export interface ResolvedContact {
  /** The id of the survivor. */
  contactId: string
  /** The id of the survivor and all ids that were merged into it. */
  contactIds: string[]
}

/** Resolves with null when the id is unknown, erased, or belongs to another business. `contactId` is a UUID. */
export async function resolveContact(sql: Sql, businessId: string, contactId: string): Promise<ResolvedContact | null> {
  const rows = await sql<ResolvedContact[]>`
    with survivor as (
      select coalesce(merged_into, id) as id from contacts where business_id = ${businessId} and id = ${contactId}
    )
    select survivor.id as "contactId", to_json(survivor.id || array(
      select m.id from contacts m where m.business_id = ${businessId} and m.merged_into = survivor.id
    )) as "contactIds"
    from survivor`
  return rows[0] ?? null
}
