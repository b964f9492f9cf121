/** Changes of a contact that a caller asks for: edits, choices of channels, and erasures. */
import { type Actor, recordContactAudit } from '../audit/audit.ts'
import type { EditFact } from '../rules/events/facts.ts'
import type { Fault } from '../rules/faults.ts'
import { choiceFields } from '../rules/topics/read-choices.ts'
import type { Sql } from '../stores/postgres.ts'
import type { ContactAnswer, EditAnswer } from '../stream/entry.ts'
import type { NewIngestRequest } from '../stream/publish/submit.ts'

export type ContactRequest = Extract<NewIngestRequest, { kind: 'edit' | 'subscribe' | 'erase' }>

type ChangeOutcome<Answer> =
  | { kind: 'changed'; answer: Answer & { contactId: string } }
  /** Stored, and applied later. */
  | { kind: 'queued' }
  /** Nothing was changed. */
  | { kind: 'faults'; faults: Fault[] }
  | { kind: 'not_found' }

/**
 * Lets a worker make the change, like every change to a contact, and records it then, so that an entry describes what
 * happened.
 * @param submit resolves with the answer of the worker, or null when the request is queued
 */
export async function changeContact<Request extends ContactRequest, Answer extends ContactAnswer | EditAnswer>(
  { sql, submit }: { sql: Sql; submit: (request: Request) => Promise<Answer | null> },
  actor: Actor,
  request: Request,
): Promise<ChangeOutcome<Answer>> {
  const answer = await submit(request)
  const { issues: faults = [] } = answer !== null && 'issues' in answer ? answer : {}
  if (faults.length > 0) return { kind: 'faults', faults }
  const contactId = answer === null ? request.contactId : answer.contactId
  if (contactId === null) return { kind: 'not_found' }
  const { action, fields } = describe(request)
  const details = fields.length === 0 ? {} : { fields }
  await recordContactAudit(sql, { businessId: request.businessId, actor, action, target: contactId, details })
  return answer === null ? { kind: 'queued' } : { kind: 'changed', answer: { ...answer, contactId } }
}

/** Returns only the names of fields: the log contains no personal data. */
function describe(request: ContactRequest): { action: string; fields: string[] } {
  switch (request.kind) {
    case 'edit':
      return { action: 'contact.edit', fields: editedFields(request.fact) }
    case 'subscribe':
      return {
        action: 'contact.consent',
        fields: [...Object.keys(request.channels), ...choiceFields(request.topics ?? [])],
      }
    case 'erase':
      return { action: 'contact.erase', fields: [] }
  }
}

const editedFields = ({ profile, traits, addTags, removeTags, primary = {}, removed = {} }: EditFact): string[] => [
  ...Object.keys(profile),
  ...Object.keys(primary).map((kind) => `primary ${kind}`),
  ...Object.keys(removed).map((kind) => `removed ${kind}`),
  ...Object.keys(traits),
  ...(addTags.length + removeTags.length > 0 ? ['tags'] : []),
]
