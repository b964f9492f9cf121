import type { FieldType } from '../rules/events/facts.ts'
import type { Sql } from '../stores/postgres.ts'

export interface CustomField {
  key: string
  type: FieldType
  /** ISO 8601 UTC. */
  createdAt: string
}

/** Oldest first; at most 500. */
export async function listCustomFields(sql: Sql, businessId: string): Promise<CustomField[]> {
  const rows = await sql<{ key: string; type: FieldType; createdAt: number }[]>`
    select key, type, created_at as "createdAt" from custom_fields
    where business_id = ${businessId} order by created_at, key`
  return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt).toISOString() }))
}
