import type { BusinessSettings } from '../businesses/businesses.ts'
import type { Queryable } from '../stores/postgres.ts'
import { rebuildRules } from './rebuild-rules.ts'

/**
 * Rules depend on the default currency of the business and, for phone numbers, on its country. When these change, the
 * affected rules are built again. Call it in the transaction that changed the settings, which has locked the business
 * by that.
 */
export async function rebuildDependents(tx: Queryable, businessId: string, changed: BusinessSettings): Promise<void> {
  if (changed.currency !== undefined || changed.country !== undefined) await rebuildRules(tx, businessId)
}
