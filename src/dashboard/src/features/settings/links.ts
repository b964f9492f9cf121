/** What other features may use of this one. */
export { AuditTable } from './audit/audit-table.tsx'
export { peopleQuery } from './queries.ts'
export { sendersQuery } from './senders/queries.ts'
