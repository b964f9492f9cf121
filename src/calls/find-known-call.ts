import type { MessageState } from '../campaigns/read-messages.ts'
import type { MessageReason } from '../rules/messages/message-reasons.ts'
import type { Queryable } from '../stores/postgres.ts'
import type { CallKey } from './call-key.ts'

/** The state of the message of a call. */
export interface CallState {
  messageId: string
  state: MessageState
  reason: MessageReason | null
}

export interface KnownCall extends CallState {
  /** Fields in which the repeat differs from the first call. */
  differences: ('to' | 'template')[]
}

/** Returns the message of an earlier call with the key. Null: there is none. */
export async function findKnownCall(
  sql: Queryable,
  { businessId, templateId }: { businessId: string; templateId: string },
  { keyHash, toHash }: CallKey,
): Promise<KnownCall | null> {
  const [known] = await sql<(CallState & { hasTo: boolean; hasTemplate: boolean })[]>`
    select m.id as "messageId", m.state, m.reason, k.to_hash = ${toHash} as "hasTo", k.template_id = ${templateId} as "hasTemplate"
    from call_keys k join messages m on m.business_id = k.business_id and m.id = k.message_id
    where k.business_id = ${businessId} and k.key_hash = ${keyHash}`
  if (known === undefined) return null
  const { hasTo, hasTemplate, ...state } = known
  return { ...state, differences: [...(hasTo ? [] : ['to' as const]), ...(hasTemplate ? [] : ['template' as const])] }
}

/** Null when the business has no such message. */
export async function readCallState(sql: Queryable, businessId: string, messageId: string): Promise<CallState | null> {
  const [found] = await sql<CallState[]>`
    select id as "messageId", state, reason from messages where business_id = ${businessId} and id = ${messageId}`
  return found ?? null
}

/** Returns whether the message is settled: it is neither waiting nor being sent. */
export const isSettled = ({ state }: Pick<CallState, 'state'>): boolean => state !== 'queued' && state !== 'claimed'
