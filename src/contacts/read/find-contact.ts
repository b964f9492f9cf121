import { IDENTITY_KINDS, type Identity } from '../../rules/events/facts.ts'
import type { Sql } from '../../stores/postgres.ts'

/** Finds the contact by the strongest field of the identity. Resolves with null when there is none. */
export async function findContact(sql: Sql, businessId: string, identity: Identity): Promise<string | null> {
  const kind = IDENTITY_KINDS.find((kind) => identity[kind] !== undefined)
  const value = kind === undefined ? undefined : identity[kind]
  if (kind === undefined || value === undefined) return null
  const rows = await sql<{ contactId: string }[]>`
    select contact_id as "contactId" from identities
    where business_id = ${businessId} and kind = ${kind} and value = ${value}`
  return rows[0]?.contactId ?? null
}
