import type { HeldBy } from '../../rules/campaigns/checked-send.ts'
import type { MessageChannel } from '../../rules/messages/message-channel.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { CallOptions } from '../due-call.ts'
import type { CallShare } from './find-due-calls.ts'

/** A due message of a call, locked. */
export interface LockedCall {
  businessId: string
  messageId: string
  channel: MessageChannel
  state: string
  /** Null: it has none. */
  contactId: string | null
  /** As it was asked for, or found at the last claim. */
  recipient: string | null
  templateId: string
  templateVersion: number
  options: CallOptions
  expiresAt: number
  /** Claim of a worker that has expired. */
  claim: string | null
  attempts: number
  heldBy: HeldBy | null
  /** The sender that may have handed it over. */
  boundTo: string | null
}

/**
 * Locks due messages, those that are due longest of each business. What others hold is left for the next look, so that
 * this never waits while it holds locks. An erasure waits for the claim, or was committed: then the message is gone.
 */
export async function lockCalls(tx: Queryable, shares: readonly CallShare[], now: number): Promise<LockedCall[]> {
  const asked = JSON.stringify(shares.map(({ businessId, room }) => ({ business_id: businessId, room })))
  const locked = await tx<{ businessId: string; messageId: string }[]>`
    select due.business_id as "businessId", due.message_id as "messageId"
    from json_to_recordset(${asked}::text::json) as x (business_id uuid, room bigint)
    cross join lateral (
      select d.business_id, d.message_id from due_calls d
      where d.business_id = x.business_id and d.due_at <= ${now}
      order by d.due_at limit x.room for update of d skip locked
    ) due`
  if (locked.length === 0) return []
  const column = (ids: string[]) => `{${ids.join(',')}}`
  // With a new snapshot: it has all that was committed before the locks.
  return tx<LockedCall[]>`
    select d.business_id as "businessId", d.message_id as "messageId", m.channel, m.state, m.contact_id as "contactId", m.recipient,
      m.template_id as "templateId", d.template_version as "templateVersion", d.options, d.expires_at as "expiresAt", d.claim,
      d.attempts, d.held_by as "heldBy", d.bound_to as "boundTo"
    from unnest(${column(locked.map(({ businessId }) => businessId))}::text::uuid[],
      ${column(locked.map(({ messageId }) => messageId))}::text::uuid[]) as asked (business_id, id)
    join due_calls d on d.business_id = asked.business_id and d.message_id = asked.id
    join messages m on m.business_id = d.business_id and m.id = d.message_id
    order by d.due_at, d.message_id`
}
