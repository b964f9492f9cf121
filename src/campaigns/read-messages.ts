/**
 * Reads the messages of campaigns, and records what a person has found out about a message whose outcome is unknown.
 */
import { type Change, recordAudit } from '../audit/audit.ts'
import { renderMessage } from '../messages/templates/render-message.ts'
import { DEFAULT_SENDER } from '../messages/channels/channels.ts'
import { type SenderAddress, readFrom } from '../messages/channels/sender-address.ts'
import type { RenderService } from '../messages/templates/renderer.ts'
import type { RenderedMessage, TemplateVersion } from '../messages/templates/template.ts'
import type { MessageValues } from '../messages/templates/values.ts'
import type { MessageChannel } from '../rules/messages/message-channel.ts'
import type { MessageReason } from '../rules/messages/message-reasons.ts'
import { inOrder } from '../rules/messages/message-reports.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'

export const MESSAGE_STATES = [
  'claimed',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'failed',
  'skipped',
  'unknown',
] as const
export type MessageState = (typeof MESSAGE_STATES)[number]

/** Instants are ISO 8601 UTC. */
export interface CampaignMessage {
  messageId: string
  campaignId: string
  enrolmentId: string
  contactId: string
  stepId: string
  channel: MessageChannel
  state: MessageState
  reason: MessageReason | null
  /** The provider's own words. */
  detail: string | null
  /** The recipient's address. */
  to: string | null
  provider: string | null
  /** Key of the sender; null for a message that was skipped. */
  sender: string | null
  /** The address that it was sent from. */
  from: SenderAddress | null
  sentAt: string | null
  states: { state: MessageState; at: string }[]
}

export type MessageRow = Omit<CampaignMessage, 'sentAt' | 'from' | 'states'> & {
  sentAt: number | null
  sentFrom: string | null
  states: { state: MessageState; at: number }[]
}

/** Null omits a condition. */
export interface MessagePage {
  businessId: string
  /** The survivor. */
  contactId: string | null
  campaignId: string | null
  state: MessageState | null
  /** The page begins below this id; null for the first page. */
  before: string | null
  limit: number
}

/** Newest first. Messages of erased persons are in no list. */
export async function listMessages(sql: Sql, page: MessagePage): Promise<CampaignMessage[]> {
  const { businessId, contactId, campaignId, state, before, limit } = page
  const rows = await sql<MessageRow[]>`
    select ${messageColumns(sql)} from messages
    where business_id = ${businessId} and contact_id is not null
      and id < ${before ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff'}
      ${contactId === null ? sql`` : sql`and contact_id = ${contactId}`}
      ${campaignId === null ? sql`` : sql`and campaign_id = ${campaignId}`}
      ${state === null ? sql`` : sql`and state = ${state}`}
    order by id desc limit ${limit}`
  return rows.map(showMessage)
}

/** Returns null when there is none, or when the person was erased. `messageId` is a UUID. */
export async function readMessage(
  sql: Queryable,
  businessId: string,
  messageId: string,
): Promise<CampaignMessage | null> {
  const [row] = await sql<MessageRow[]>`
    select ${messageColumns(sql)} from messages
    where business_id = ${businessId} and id = ${messageId} and contact_id is not null`
  return row === undefined ? null : showMessage(row)
}

/**
 * The sent content, rendered again from its version and values. Null when one of them no longer exists, when nothing was
 * rendered, and when the rendering fails now.
 */
export async function renderAgain(
  sql: Sql,
  renderer: RenderService,
  businessId: string,
  messageId: string,
): Promise<RenderedMessage | null> {
  const [kept] = await sql<(TemplateVersion & { values: string; at: number })[]>`
    select v.template_id as "templateId", v.version, v.channel, v.default_language as "defaultLanguage", v.variants, v.compiled,
      m."values", coalesce(m.sent_at, m.claimed_at) as at
    from messages m join template_versions v
      on v.business_id = m.business_id and v.template_id = m.template_id and v.version = m.template_version
    where m.business_id = ${businessId} and m.id = ${messageId} and m."values" is not null`
  if (kept === undefined) return null
  const values = JSON.parse(kept.values) as MessageValues
  const wanted = { values, language: values.contact.language, now: kept.at }
  const rendering = await renderMessage(renderer.of(businessId), kept, wanted)
  return rendering.kind === 'rendered' ? rendering.message : null
}

/** Columns of a MessageRow. */
export function messageColumns(sql: Queryable) {
  return sql`
    id as "messageId", campaign_id as "campaignId", enrolment_id as "enrolmentId", contact_id as "contactId", step as "stepId",
    channel, state, reason, detail, recipient as "to", provider, sent_at as "sentAt", states,
    sent_from as "sentFrom", coalesce(sender, case when state <> 'skipped' then ${DEFAULT_SENDER} end) as sender`
}

const isoTime = (at: number): string => new Date(at).toISOString()

export const showMessage = ({ sentAt, sentFrom, states, ...row }: MessageRow): CampaignMessage => ({
  ...row,
  from: readFrom(row.channel, sentFrom),
  sentAt: sentAt === null ? null : isoTime(sentAt),
  states: inOrder(states).map(({ state, at }) => ({ state, at: isoTime(at) })),
})

export type SettleOutcome =
  | { kind: 'settled'; message: CampaignMessage }
  | { kind: 'not_unknown'; state: MessageState }
  | { kind: 'not_found' }

/** Records what a person has found out about a message. Repeating it changes nothing. */
export async function settleMessage(
  sql: Sql,
  { businessId, actor }: Change,
  { messageId, state, now }: { messageId: string; state: 'sent' | 'failed'; now: number },
): Promise<SettleOutcome> {
  return await inTransaction(sql, async (tx) => {
    const { count } = await tx`
      update messages set
        state = ${state}, sent_at = case when ${state === 'sent'} then claimed_at end,
        states = states || jsonb_build_array(jsonb_build_object('state', ${state}::text, 'at', ${now}::bigint))
      where business_id = ${businessId} and id = ${messageId} and state = 'unknown' and contact_id is not null`
    const message = await readMessage(tx, businessId, messageId)
    if (message === null) return { kind: 'not_found' }
    if (message.state !== state) return { kind: 'not_unknown', state: message.state }
    const entry = { businessId, actor, action: 'message.settle', target: messageId, details: { state } }
    if (count > 0) await recordAudit(tx, entry)
    return { kind: 'settled', message }
  })
}
