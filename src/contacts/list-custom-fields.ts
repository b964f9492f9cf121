import type { FieldType } from '../rules/events/facts.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'

export interface CustomField {
  key: string
  type: FieldType
  /** ISO 8601 UTC. */
  createdAt: string
}

/** A field with its description. Lists to choose a field from leave out hidden ones. */
export interface DescribedField extends CustomField {
  description: string
  isHidden: boolean
}

/** Lists the fields, oldest first; at most 500. */
export async function listCustomFields(sql: Sql, businessId: string): Promise<CustomField[]> {
  const rows = await listDescribedFields(sql, businessId)
  return rows.map(({ key, type, createdAt }) => ({ key, type, createdAt }))
}

/** Lists the fields with their descriptions, oldest first; at most 500. */
export async function listDescribedFields(sql: Sql, businessId: string): Promise<DescribedField[]> {
  const rows = await sql<(Omit<DescribedField, 'createdAt'> & { createdAt: number })[]>`
    select key, type, created_at as "createdAt", description, hidden as "isHidden" from custom_fields
    where business_id = ${businessId} order by created_at, key`
  return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt).toISOString() }))
}

export async function findFieldType(sql: Sql, businessId: string, key: string): Promise<FieldType | null> {
  const [row] = await sql<{ type: FieldType }[]>`
    select type from custom_fields where business_id = ${businessId} and key = ${key}`
  return row?.type ?? null
}

/** Returns false when the business has no such field. */
export async function describeField(
  sql: Queryable,
  { businessId, key }: { businessId: string; key: string },
  { description = null, isHidden = null }: { description?: string | null; isHidden?: boolean | null },
): Promise<boolean> {
  const { count } = await sql`
    update custom_fields set
      description = coalesce(${description}, description), hidden = coalesce(${isHidden}::boolean, hidden)
    where business_id = ${businessId} and key = ${key}`
  return count === 1
}
