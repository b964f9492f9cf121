/** Statements of the SQL page that a business has saved. */
import { uuidv7 } from 'uuidv7'
import { type Change, recordAudit } from '../../audit/audit.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'

export const MAX_QUERIES = 200
export const MAX_QUERY_NAME = 100

export interface SavedQuery {
  id: string
  name: string
  statement: string
  /** Parameter values, by name. */
  parameters: Record<string, string>
}

export type SaveOutcome = 'name_taken' | 'limit_reached' | 'not_found'

/** Lists the saved queries, sorted by name; at most `MAX_QUERIES`. */
export async function listQueries(sql: Sql, businessId: string): Promise<SavedQuery[]> {
  return await sql<SavedQuery[]>`
    select id, name, statement, parameters from saved_queries where business_id = ${businessId} order by lower(name), id`
}

/** The lock on the business makes concurrent saves run one after another, so that the limit holds. */
export async function createQuery(
  sql: Sql,
  { businessId, actor }: Change,
  query: Omit<SavedQuery, 'id'>,
): Promise<SavedQuery | SaveOutcome> {
  return await inTransaction(sql, async (tx) => {
    await tx`select from businesses where id = ${businessId} for no key update`
    const held = await tx<{ name: string }[]>`select name from saved_queries where business_id = ${businessId}`
    if (held.some(({ name }) => name === query.name)) return 'name_taken'
    if (held.length >= MAX_QUERIES) return 'limit_reached'
    const id = uuidv7()
    await tx`
      insert into saved_queries (business_id, id, name, statement, parameters)
      values (${businessId}, ${id}, ${query.name}, ${query.statement}, ${JSON.stringify(query.parameters)}::text::jsonb)`
    await recordAudit(tx, { businessId, actor, action: 'query.create', target: id })
    return { id, ...query }
  })
}

export async function updateQuery(
  sql: Sql,
  { businessId, actor }: Change,
  query: SavedQuery,
): Promise<SavedQuery | SaveOutcome> {
  const { id, name, statement, parameters } = query
  return await inTransaction(sql, async (tx) => {
    await tx`select from businesses where id = ${businessId} for no key update`
    const others = await tx`
      select from saved_queries where business_id = ${businessId} and name = ${name} and id <> ${id}`
    if (others.length > 0) return 'name_taken'
    const { count } = await tx`
      update saved_queries
      set name = ${name}, statement = ${statement}, parameters = ${JSON.stringify(parameters)}::text::jsonb
      where business_id = ${businessId} and id = ${id}`
    if (count === 0) return 'not_found'
    await recordAudit(tx, { businessId, actor, action: 'query.update', target: id })
    return query
  })
}

/** Resolves with false when there is no such query. */
export async function deleteQuery(sql: Sql, { businessId, actor }: Change, id: string): Promise<boolean> {
  return await inTransaction(sql, async (tx: Queryable) => {
    const { count } = await tx`delete from saved_queries where business_id = ${businessId} and id = ${id}`
    if (count > 0) await recordAudit(tx, { businessId, actor, action: 'query.delete', target: id })
    return count > 0
  })
}
