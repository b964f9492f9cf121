/**
 * Reads the messages of campaigns and of calls, and records what a person has found out about a message whose outcome is
 * unknown.
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
  'queued',
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

export const MESSAGE_SOURCES = ['campaign', 'call'] as const
export type MessageSource = (typeof MESSAGE_SOURCES)[number]

/** Instants are ISO 8601 UTC. */
export interface Message {
  messageId: string
  source: MessageSource
  /** Null for a message of a call, as the next two. */
  campaignId: string | null
  enrolmentId: string | null
  stepId: string | null
  /** Null for a message of a call to an address of no contact. */
  contactId: string | null
  templateId: string
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

export type MessageRow = Omit<Message, 'sentAt' | 'from' | 'states'> & {
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
  source: MessageSource | null
  /** Of the messages of calls. */
  templateId: string | null
  state: MessageState | null
  /** The page begins below this id; null for the first page. */
  before: string | null
  limit: number
}

/** Newest first. Messages of erased persons are in no list. */
export async function listMessages(sql: Sql, page: MessagePage): Promise<Message[]> {
  const { businessId, contactId, campaignId, source, templateId, state, before, limit } = page
  const last = before ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff'
  const ofCalls = sql`
    select message_id from calls where business_id = ${businessId} and message_id < ${last}
      ${templateId === null ? sql`` : sql`and template_id = ${templateId}`}`
  const rows = await sql<MessageRow[]>`
    select ${messageColumns(sql)} from messages
    where business_id = ${businessId} and ${isShown(sql)} and id < ${last}
      ${source === 'call' || templateId !== null ? sql`and id in (${ofCalls})` : sql``}
      ${source === 'campaign' ? sql`and campaign_id is not null` : sql``}
      ${contactId === null ? sql`` : sql`and contact_id = ${contactId}`}
      ${campaignId === null ? sql`` : sql`and campaign_id = ${campaignId}`}
      ${state === null ? sql`` : sql`and state = ${state}`}
    order by id desc limit ${limit}`
  return rows.map(showMessage)
}

/** Returns null when there is none, or when the person was erased. `messageId` is a UUID. */
export async function readMessage(sql: Queryable, businessId: string, messageId: string): Promise<Message | null> {
  const [row] = await sql<MessageRow[]>`
    select ${messageColumns(sql)} from messages
    where business_id = ${businessId} and id = ${messageId} and ${isShown(sql)}`
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
  const wanted = { values, language: values.language ?? values.contact.language, now: kept.at }
  const rendering = await renderMessage(renderer.of(businessId), kept, wanted)
  return rendering.kind === 'rendered' ? rendering.message : null
}

/** Columns of a MessageRow. */
export function messageColumns(sql: Queryable) {
  return sql`
    id as "messageId", case when campaign_id is null then 'call' else 'campaign' end as source, template_id as "templateId",
    campaign_id as "campaignId", enrolment_id as "enrolmentId", contact_id as "contactId", step as "stepId",
    channel, state, reason, detail, recipient as "to", provider, sent_at as "sentAt", states, sent_from as "sentFrom",
    coalesce(sender, case when state not in ('skipped', 'queued') then ${DEFAULT_SENDER} end) as sender`
}

/** SQL: not the message of a person who was erased. That of a call without a contact has a recipient until then. */
const isShown = (sql: Queryable) => sql`(contact_id is not null or recipient is not null)`

const isoTime = (at: number): string => new Date(at).toISOString()

export const showMessage = ({ sentAt, sentFrom, states, ...row }: MessageRow): Message => ({
  ...row,
  from: readFrom(row.channel, sentFrom),
  sentAt: sentAt === null ? null : isoTime(sentAt),
  states: inOrder(states).map(({ state, at }) => ({ state, at: isoTime(at) })),
})

export type SettleOutcome =
  | { kind: 'settled'; message: Message }
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
      where business_id = ${businessId} and id = ${messageId} and state = 'unknown' and ${isShown(tx)}`
    const message = await readMessage(tx, businessId, messageId)
    if (message === null) return { kind: 'not_found' }
    if (message.state !== state) return { kind: 'not_unknown', state: message.state }
    const entry = { businessId, actor, action: 'message.settle', target: messageId, details: { state } }
    if (count > 0) await recordAudit(tx, entry)
    return { kind: 'settled', message }
  })
}
