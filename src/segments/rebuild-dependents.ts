import type { BusinessSettings } from '../businesses/businesses.ts'
import type { Queryable } from '../stores/postgres.ts'
import { rebuildRules } from './rebuild-rules.ts'

/**
 * Rules read the default currency of the business, and phone numbers by its country: those that depend on what was changed are
 * computed again. Call it in the transaction that changed the settings, which has locked the business thereby.
 */
export async function rebuildDependents(tx: Queryable, businessId: string, changed: BusinessSettings): Promise<void> {
  if (changed.currency !== undefined || changed.country !== undefined) await rebuildRules(tx, businessId)
}
