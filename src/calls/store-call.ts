/** Stores the message of a call, with all that the engine needs to send it. */
import { createHash } from 'node:crypto'
import type { SendCall } from '../rules/calls/call.ts'
import type { CallSkipReason } from '../rules/messages/message-reasons.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import type { CallKey } from './call-key.ts'
import type { CallOptions } from './due-call.ts'
import type { CallTemplate } from './load-call-template.ts'

export interface NewCall {
  businessId: string
  messageId: string
  call: SendCall
  template: CallTemplate
  /** Null without an idempotency key. */
  key: CallKey | null
  contactId: string | null
  /** As providers get it. Null: the channel has no addresses, or the contact has none. */
  recipient: string | null
  /** As contacts have it. */
  address: string | null
  /** Null: it is to be sent. */
  skipped: Exclude<CallSkipReason, 'expired'> | null
  options: CallOptions
  /** Counts in the backlog. */
  bytes: number
  /** Epoch milliseconds. */
  now: number
}

/** `known`: another call has the key. `moved`: the contact was merged or erased meanwhile. */
export type Stored = 'stored' | 'known' | 'moved'

export async function storeCall(sql: Sql, one: NewCall): Promise<Stored> {
  return await inTransaction(sql, async (tx) => {
    if (one.contactId !== null && !(await lockContact(tx, one.businessId, one.contactId))) return 'moved'
    if (one.key !== null && !(await insertKey(tx, one, one.key))) return 'known'
    await insertMessage(tx, one)
    await insertAttachments(tx, one)
    return 'stored'
  })
}

/** A merge and an erasure wait for the message, or have been committed. */
async function lockContact(tx: Queryable, businessId: string, contactId: string): Promise<boolean> {
  const found = await tx`
    select from contacts where business_id = ${businessId} and id = ${contactId} and merged_into is null for share`
  return found.length > 0
}

/** Waits for another call with the same key. */
async function insertKey(
  tx: Queryable,
  { businessId, messageId, template }: NewCall,
  { keyHash, toHash }: CallKey,
): Promise<boolean> {
  const { count } = await tx`
    insert into call_keys (business_id, key_hash, message_id, to_hash, template_id)
    values (${businessId}, ${keyHash}, ${messageId}, ${toHash}, ${template.templateId})
    on conflict do nothing`
  return count > 0
}

async function insertMessage(tx: Queryable, one: NewCall): Promise<void> {
  const { businessId, messageId, call, template, contactId, recipient, address, skipped, options, bytes, now } = one
  const state = skipped === null ? 'queued' : 'skipped'
  // The data stay with a message that is not sent, unless they are sensitive.
  const isKept = skipped !== null && !call.sensitive
  const values = skipped === null || isKept ? JSON.stringify({ data: call.data }) : null
  await tx`
    with message as (
      insert into messages (business_id, id, contact_id, channel, state, reason, recipient, claimed_at, states, template_id, "values", kept)
      values (${businessId}, ${messageId}, ${contactId}, ${template.channel}, ${state}, ${skipped}, ${recipient}, ${now},
        ${JSON.stringify([{ state, at: now }])}::text::jsonb, ${template.templateId}, ${values}, ${isKept})
    ),
    due as (
      insert into due_calls (business_id, message_id, due_at, expires_at, template_version, options, bytes)
      select ${businessId}, ${messageId}, ${now}, ${now + call.validForMs}, ${template.version},
        ${JSON.stringify(options)}::text::json, ${bytes}
      where ${skipped === null}
    )
    insert into calls (business_id, message_id, template_id, called_at, address)
    values (${businessId}, ${messageId}, ${template.templateId}, ${now}, ${contactId === null ? address : null})`
}

async function insertAttachments(tx: Queryable, { businessId, messageId, call, skipped }: NewCall): Promise<void> {
  for (const [place, { filename, contentType, contentId, content }] of call.attachments.entries()) {
    const sha256 = createHash('sha256').update(content).digest()
    await tx`
      insert into call_attachments (business_id, message_id, place, filename, content_type, content_id, size, sha256, content)
      values (${businessId}, ${messageId}, ${place}, ${filename}, ${contentType}, ${contentId}, ${content.byteLength},
        ${sha256}, ${skipped === null ? Buffer.from(content) : null})`
  }
}
