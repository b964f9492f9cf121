import { type Change, recordContactAudit } from '../audit/audit.ts'
import { type NamedContact, listNames } from '../contacts/read/list-names.ts'
import type { Sql } from '../stores/postgres.ts'
import { type Member, type PageQuery, readMembers } from './read-members.ts'

interface ExportPage {
  members: (NamedContact & Omit<Member, 'contactId'>)[]
  /** Null at the end. */
  nextCursor: string | null
}

/**
 * Returns a page of the members with their addresses, without those who left or were erased in the meantime. Null when
 * the cursor does not belong to this list. An export consists of one call per page, but has one entry in the audit log.
 */
export async function exportMembers(
  sql: Sql,
  { businessId, actor }: Change,
  page: Omit<PageQuery, 'businessId'>,
): Promise<ExportPage | null> {
  const listed = await readMembers(sql, { businessId, ...page })
  if (listed === null) return null
  if (page.cursor === null)
    await recordContactAudit(sql, { businessId, actor, action: 'segment.export', target: page.segmentId })
  const ids = listed.members.flatMap(({ contactId }) => contactId ?? [])
  const contactOf = new Map((await listNames(sql, businessId, ids)).map((contact) => [contact.contactId, contact]))
  const members = listed.members.flatMap(({ contactId, ...entry }) => {
    const contact = contactOf.get(contactId ?? '')
    return contact === undefined ? [] : [{ ...contact, ...entry }]
  })
  return { members, nextCursor: listed.nextCursor }
}
