/** Filters of the contact list that a business has saved under names. */
import { uuidv7 } from 'uuidv7'
import { type Change, recordAudit } from '../audit/audit.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'

export const MAX_VIEWS = 100
export const MAX_VIEW_NAME = 100

/** The filters as in the URL of the list; unused filters are absent. */
export interface ViewFilters {
  query?: string
  tag?: string
  stage?: string
  segment?: string
  field?: string
  value?: string
}

export interface SavedView {
  id: string
  name: string
  filters: ViewFilters
}

export type SaveOutcome = 'name_taken' | 'limit_reached' | 'not_found'

/** Lists the saved views, sorted by name; at most `MAX_VIEWS`. */
export async function listViews(sql: Sql, businessId: string): Promise<SavedView[]> {
  return await sql<SavedView[]>`
    select id, name, filters from saved_views where business_id = ${businessId} order by lower(name), id`
}

/** The lock on the business makes concurrent saves run one after another, so that the limit holds. */
export async function createView(
  sql: Sql,
  { businessId, actor }: Change,
  { name, filters }: Omit<SavedView, 'id'>,
): Promise<SavedView | SaveOutcome> {
  return await inTransaction(sql, async (tx) => {
    await tx`select from businesses where id = ${businessId} for no key update`
    const held = await tx<{ name: string }[]>`select name from saved_views where business_id = ${businessId}`
    if (held.some((one) => one.name === name)) return 'name_taken'
    if (held.length >= MAX_VIEWS) return 'limit_reached'
    const id = uuidv7()
    await tx`
      insert into saved_views (business_id, id, name, filters)
      values (${businessId}, ${id}, ${name}, ${JSON.stringify(filters)}::text::jsonb)`
    await recordAudit(tx, { businessId, actor, action: 'view.create', target: id })
    return { id, name, filters }
  })
}

/**
 * Changes only the given fields: a new name keeps filters that a colleague may have changed in the meantime, and vice
 * versa.
 */
export async function updateView(
  sql: Sql,
  { businessId, actor }: Change,
  { id, name, filters }: Pick<SavedView, 'id'> & Partial<SavedView>,
): Promise<SavedView | SaveOutcome> {
  return await inTransaction(sql, async (tx) => {
    await tx`select from businesses where id = ${businessId} for no key update`
    const others = await tx`
      select from saved_views where business_id = ${businessId} and name = ${name ?? null} and id <> ${id}`
    if (others.length > 0) return 'name_taken'
    const [view] = await tx<SavedView[]>`
      update saved_views set name = coalesce(${name ?? null}, name),
        filters = coalesce(${filters === undefined ? null : JSON.stringify(filters)}::text::jsonb, filters)
      where business_id = ${businessId} and id = ${id}
      returning id, name, filters`
    if (view === undefined) return 'not_found'
    await recordAudit(tx, { businessId, actor, action: 'view.update', target: id })
    return view
  })
}

/** Resolves with false when there is no such view. */
export async function deleteView(sql: Sql, { businessId, actor }: Change, id: string): Promise<boolean> {
  return await inTransaction(sql, async (tx: Queryable) => {
    const { count } = await tx`delete from saved_views where business_id = ${businessId} and id = ${id}`
    if (count > 0) await recordAudit(tx, { businessId, actor, action: 'view.delete', target: id })
    return count > 0
  })
}
