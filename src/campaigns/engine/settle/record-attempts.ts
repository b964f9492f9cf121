import type { MessageChannel } from '../../../rules/messages/message-channel.ts'
import type { MessageReason } from '../../../rules/messages/message-reasons.ts'
import type { Queryable } from '../../../stores/postgres.ts'

/** Outcome of an attempt, as it is stored. Instants are epoch milliseconds. */
export interface AttemptRecord {
  businessId: string
  enrolmentId: string
  messageId: string
  channel: MessageChannel
  /** The sender whose connection it took. */
  sender: string
  /** The sender was unreachable when the message was claimed. */
  wasUnreachable: boolean
  claim: string
  /** False: another attempt follows. */
  isFinal: boolean
  /** State of the message from `at` on. */
  state: string
  reason: MessageReason | null
  /**
   * What counts towards a pause of the sender. `refused`: refused because of the sender. `unreached`: no connection came
   * about. `reached`: one did, and another attempt follows. Null: it does not count.
   */
  judged: 'refused' | 'other' | 'unreached' | 'reached' | null
  /** The sender that may have handed it over, when another attempt follows: no other one may send it. */
  boundTo: string | null
  /** Key of the report that a refusal of the provider stands for. Null: the provider has not refused the message. */
  reported: string | null
  at: number
  /** When the enrolment has to be moved next. */
  dueAt: number
  /** The provider's own words. */
  detail: string | null
  provider: string | null
  /** The address that it was sent from. */
  sentFrom: string | null
  providerMessageId: string | null
  templateVersion: number | null
  /** The values with which it was rendered, as JSON text. */
  values: string | null
}

/**
 * Records attempts with one statement, and lets their enrolments continue. A worker whose claim has expired meanwhile
 * still records what it knows about the message; the enrolment has continued without it. Otherwise no enrolment
 * continues while its message is still claimed, because a crash would leave it that way. For a person who was erased
 * meanwhile, nothing is stored that could identify them. Rows that others have locked are left: the statement never
 * waits while it holds rows. Each row is looked up by its key once. One that another transaction changes between the
 * snapshot of the statement and its lock is not found again, and its attempt is not recorded. Recording an attempt again changes nothing, and is not counted again.
 * @returns for each attempt, whether it was recorded and its enrolment continues
 */
export async function recordAttempts(sql: Queryable, records: readonly AttemptRecord[]): Promise<boolean[]> {
  const rows = records.map((record, place) => ({
    place,
    business_id: record.businessId,
    enrolment_id: record.enrolmentId,
    message_id: record.messageId,
    channel: record.channel,
    sender: record.sender,
    bound_to: record.boundTo,
    sent_from: record.sentFrom,
    claim: record.claim,
    is_final: record.isFinal,
    state: record.state,
    reason: record.reason,
    judged: record.judged,
    reported: record.reported,
    at: record.at,
    due_at: record.dueAt,
    detail: record.detail,
    provider: record.provider,
    provider_message_id: record.providerMessageId,
    template_version: record.templateVersion,
    values: record.values,
  }))
  const done = await sql<{ place: number }[]>`
    with x as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (place integer, business_id uuid, enrolment_id uuid,
        message_id uuid, channel text, sender text, bound_to text, sent_from text, claim uuid, is_final boolean, state text, reason text,
        judged text, reported text, at bigint, due_at bigint, detail text,
        provider text, provider_message_id text, template_version integer, "values" text)
    ),
    waiting as materialized (
      select x.*, d.ctid as tid from x
      join due_steps d on d.business_id = x.business_id and d.enrolment_id = x.enrolment_id and d.claim = x.claim
      for update of d skip locked
    ),
    claimed as materialized (
      select x.*, m.ctid as tid from x join messages m on m.business_id = x.business_id and m.id = x.message_id
      where m.state = 'claimed' or (m.state = 'unknown' and x.is_final and x.state <> 'unknown')
      for update of m skip locked
    ),
    recorded as (
      update messages m set
        state = x.state, reason = x.reason,
        states = case when x.is_final
          then m.states || jsonb_build_array(jsonb_build_object('state', x.state, 'at', x.at)) else m.states end,
        -- A message without an outcome has no reports.
        reports = case when x.reported is null then m.reports else jsonb_build_array(x.reported) end,
        sent_at = case when x.state = 'sent' then x.at end, provider = x.provider, sent_from = x.sent_from,
        retried = m.retried or not x.is_final,
        template_version = coalesce(x.template_version, m.template_version),
        detail = case when m.contact_id is not null then x.detail end,
        provider_message_id = case when m.contact_id is not null then x.provider_message_id end,
        "values" = case when m.contact_id is not null then coalesce(x."values", m."values") end,
        -- It was forgotten before it had any.
        kept = m.kept or (m.contact_id is not null and x."values" is not null)
      from claimed x
      where m.ctid = x.tid
      returning x.place, x.business_id, x.channel, x.sender, x.at, x.judged
    ),
    gone_on as (
      update due_steps d set
        claim = null, due_at = x.due_at, settled = d.settled or x.is_final,
        message_id = case when not x.is_final then d.message_id end,
        bound_to = case when not x.is_final then coalesce(x.bound_to, d.bound_to) end,
        attempts = case when x.is_final then 0 else d.attempts end
      from waiting x
      where d.ctid = x.tid and (
        x.place = any (array(select place from recorded))
        or not exists (
          select from messages m where m.business_id = x.business_id and m.id = x.message_id and m.state = 'claimed'
        )
      )
      returning x.place
    ),
    counted as (
      insert into channel_outcomes (business_id, channel, sender, at, messages, refused, unreached, reached)
      select business_id, channel, sender, at, count(*) filter (where judged in ('refused', 'other')),
        count(*) filter (where judged = 'refused'), count(*) filter (where judged = 'unreached'),
        count(*) filter (where judged = 'reached')
      from recorded where judged is not null
      group by business_id, channel, sender, at
    )
    select place from gone_on where place = any (array(select place from recorded))`
  const places = new Set(done.map(({ place }) => place))
  return records.map((_, place) => places.has(place))
}
