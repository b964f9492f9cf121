import { type Change, recordContactAudit } from '../audit/audit.ts'
import type { Sql } from '../stores/postgres.ts'
import { type Contact, readContact } from './read/read-contact.ts'
import { type ContactHistory, MAX_CHOICES, readHistory } from './read/read-history.ts'
import { type ContactTopics, type TopicChoiceEntry, readTopicHistory, readTopics } from './read/read-topics.ts'
import type { ResolvedContact } from './read/resolve-contact.ts'

interface ExportedContact extends Contact, ContactHistory {
  topicConsents: ContactTopics
  /** All choices, newest first; at most `MAX_CHOICES`. */
  topicHistory: TopicChoiceEntry[]
}

/** Returns the person without the lists that have pages, and records who exports them. Null when they do not exist. */
export async function exportContact(
  sql: Sql,
  { businessId, actor }: Change,
  { contactId, contactIds, currency }: ResolvedContact & { currency: string },
): Promise<ExportedContact | null> {
  const contact = await readContact(sql, { businessId, contactId, currency })
  if (contact === null) return null
  const key = { businessId, contactId }
  const topics = await readTopics(sql, key)
  const chosen = await readTopicHistory(sql, key, { limit: MAX_CHOICES, cursor: null })
  const person = {
    ...contact,
    ...(await readHistory(sql, { ...key, contactIds })),
    topicConsents: topics?.topics ?? {},
    topicHistory: chosen?.history ?? [],
  }
  await recordContactAudit(sql, { businessId, actor, action: 'contact.export', target: contactId })
  return person
}
