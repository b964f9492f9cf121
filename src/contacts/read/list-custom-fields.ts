import { type Change, recordAudit } from '../../audit/audit.ts'
import type { FieldType } from '../../rules/events/facts.ts'
import type { Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'

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

/** Changes the given of the two. Returns false when the business has no such field. */
export async function describeField(
  sql: Sql,
  { businessId, actor }: Change,
  key: string,
  change: Partial<Pick<DescribedField, 'description' | 'isHidden'>>,
): Promise<boolean> {
  const { description = null, isHidden = null } = change
  return await inTransaction(sql, async (tx) => {
    const { count } = await tx`
      update custom_fields set
        description = coalesce(${description}, description), hidden = coalesce(${isHidden}::boolean, hidden)
      where business_id = ${businessId} and key = ${key}`
    const details = { fields: Object.keys(change) }
    const entry = { businessId, actor, action: 'custom-field.describe', target: key, details }
    if (count > 0) await recordAudit(tx, entry)
    return count > 0
  })
}
