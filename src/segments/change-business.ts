import { type Change, recordAudit } from '../audit/audit.ts'
import { type BusinessSettings, storeSettings } from '../businesses/businesses.ts'
import type { Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { rebuildRules } from './rebuild-rules.ts'

/**
 * Changes settings of a business. Rules depend on its default currency and, for phone numbers, on its country. When
 * these change, the affected rules are built again. Returns false when there is no such business.
 */
export async function changeBusiness(
  sql: Sql,
  { businessId, actor }: Change,
  settings: BusinessSettings,
): Promise<boolean> {
  return inTransaction(sql, async (tx) => {
    if (!(await storeSettings(tx, businessId, settings))) return false
    if (settings.currency !== undefined || settings.country !== undefined) await rebuildRules(tx, businessId)
    const entry = { businessId, actor, action: 'business.update', target: businessId }
    await recordAudit(tx, { ...entry, details: { ...settings } })
    return true
  })
}
