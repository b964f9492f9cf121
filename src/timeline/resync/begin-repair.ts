/**
 * Records repairs of the stores in the audit log. They have many steps, and can be stopped after each, so the entry is
 * written before the first.
 */
import { type Actor, recordAudit } from '../../audit/audit.ts'
import type { Sql } from '../../stores/postgres.ts'

/** `businessId`: the only business that is repaired; null for all. */
export const beginRepair = (sql: Sql, actor: Actor, businessId: string | null): Promise<void> =>
  recordAudit(sql, { businessId, actor, action: 'stores.repair', target: businessId })

/** After Postgres was restored from a backup. */
export const beginRecovery = (sql: Sql, actor: Actor): Promise<void> =>
  recordAudit(sql, { businessId: null, actor, action: 'stores.recover', target: null })
