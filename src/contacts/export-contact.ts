import { type Change, recordContactAudit } from '../audit/audit.ts'
import type { Sql } from '../stores/postgres.ts'
import { type Contact, readContact } from './read/read-contact.ts'
import { type ContactHistory, readHistory } from './read/read-history.ts'
import type { ResolvedContact } from './read/resolve-contact.ts'

/** Returns the person without the lists that have pages, and records who exports them. Null when they do not exist. */
export async function exportContact(
  sql: Sql,
  { businessId, actor }: Change,
  { contactId, contactIds, currency }: ResolvedContact & { currency: string },
): Promise<(Contact & ContactHistory) | null> {
  const contact = await readContact(sql, { businessId, contactId, currency })
  if (contact === null) return null
  const person = { ...contact, ...(await readHistory(sql, { businessId, contactId, contactIds })) }
  await recordContactAudit(sql, { businessId, actor, action: 'contact.export', target: contactId })
  return person
}
