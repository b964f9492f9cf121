import type { Sql } from '../stores/postgres.ts'

/** A person under every id they have had. */
export interface ResolvedContact {
  /** The survivor. */
  contactId: string
  /** The survivor's id and every id that was merged into it. */
  contactIds: string[]
}

/** Null when the id is unknown, erased, or another business's. `contactId` is a UUID. */
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
