/** Records the changes of commands in the audit log. */
import { type AuditEntry, recordAudit } from '../audit/audit.ts'
import { commandActor } from '../audit/command-actor.ts'
import type { Queryable } from '../stores/postgres.ts'

/**
 * `command`: its name, such as `key create`. Call this in the transaction of the change, or before a change of many
 * steps.
 */
export function recordCommand(sql: Queryable, command: string, change: Omit<AuditEntry, 'actor'>): Promise<void> {
  return recordAudit(sql, { ...change, actor: commandActor(`admin ${command}`) })
}
