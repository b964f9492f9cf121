import { type Change, recordAudit } from '../audit/audit.ts'
import { type BusinessSettings, type ListedBusiness, readBusiness, storeSettings } from '../businesses/businesses.ts'
import type { Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { lockBusiness } from './load-definitions.ts'
import { rebuildRules } from './rebuild-rules.ts'

/** `rate_limit_fixed`: the limit would change, and the actor may not change it. */
export type BusinessOutcome = { kind: 'saved' } | { kind: 'not_found' } | { kind: 'rate_limit_fixed' }

/**
 * Changes the settings that differ from those stored. Rules depend on the default currency of the business and, for phone
 * numbers, on its country. When these change, the affected rules are built again.
 */
export async function changeBusiness(
  sql: Sql,
  { businessId, actor }: Change,
  wanted: BusinessSettings,
  { maySetRateLimit }: { maySetRateLimit: boolean },
): Promise<BusinessOutcome> {
  return inTransaction(sql, async (tx) => {
    await lockBusiness(tx, businessId)
    const before = await readBusiness(tx, businessId)
    if (before === null) return { kind: 'not_found' }
    const changed = onlyChanged(before, wanted)
    if (changed.rateLimit !== undefined && !maySetRateLimit) return { kind: 'rate_limit_fixed' }
    if (Object.keys(changed).length === 0) return { kind: 'saved' }
    await storeSettings(tx, businessId, changed)
    if (changed.currency !== undefined || changed.country !== undefined) await rebuildRules(tx, businessId)
    const entry = { businessId, actor, action: 'business.update', target: businessId }
    await recordAudit(tx, { ...entry, details: { ...changed } })
    return { kind: 'saved' }
  })
}

function onlyChanged(before: ListedBusiness, wanted: BusinessSettings): BusinessSettings {
  const isChanged = (name: string, value: unknown) =>
    JSON.stringify(value) !== JSON.stringify(before[name as keyof ListedBusiness])
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => isChanged(name, value)))
}
