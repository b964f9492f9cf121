import type { AttemptRecord } from '../../campaigns/engine/settle/record-attempts.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { CallOptions } from '../due-call.ts'
import { dropCalls } from './drop-calls.ts'

/** Outcome of an attempt at the message of a call, as it is stored. */
export type CallRecord = Omit<AttemptRecord, 'enrolmentId'> & { options: CallOptions }

/**
 * Records an attempt, and ends the work on the message, or has it tried again at `dueAt`. A worker whose claim has
 * expired meanwhile still records what it knows. Recording it again changes nothing. For a person who was erased
 * meanwhile, nothing is stored that could identify them.
 * @returns whether the message was waiting for this outcome
 */
export async function recordCallAttempt(tx: Queryable, record: CallRecord): Promise<boolean> {
  const { businessId, messageId, claim, isFinal } = record
  // In the same order as an erasure.
  const [due] = await tx`
    select from due_calls where business_id = ${businessId} and message_id = ${messageId} and claim = ${claim} for update`
  const isRecorded = await recordMessage(tx, record)
  if (isRecorded && record.judged !== null) await count(tx, record)
  if (isFinal) await dropCalls(tx, isRecorded || due !== undefined ? [record] : [])
  else if (due !== undefined)
    await tx`
      update due_calls set claim = null, due_at = ${record.dueAt},
        bound_to = coalesce(${record.boundTo}::text, bound_to)
      where business_id = ${businessId} and message_id = ${messageId}`
  return isRecorded
}

async function recordMessage(tx: Queryable, record: CallRecord): Promise<boolean> {
  const { businessId, messageId, isFinal, state, reason, reported, at, detail } = record
  const { provider, sentFrom, providerMessageId, templateVersion, values } = record
  const entry = JSON.stringify([{ state, at }])
  const { count: changed } = await tx`
    update messages set
      state = ${state}, reason = ${reason},
      states = case when ${isFinal} then states || ${entry}::text::jsonb else states end,
      reports = case when ${reported}::text is null then reports else jsonb_build_array(${reported}::text) end,
      sent_at = case when ${state === 'sent'} then ${at}::bigint end, provider = ${provider}, sent_from = ${sentFrom},
      retried = retried or not ${isFinal}, template_version = coalesce(${templateVersion}::integer, template_version),
      detail = case when num_nonnulls(contact_id, recipient) > 0 then ${detail}::text end,
      provider_message_id = case when num_nonnulls(contact_id, recipient) > 0 then ${providerMessageId}::text end,
      "values" = case when num_nonnulls(contact_id, recipient) > 0 then coalesce(${values}::text, "values") end
    where business_id = ${businessId} and id = ${messageId}
      and (state = 'claimed' or (state = 'unknown' and ${isFinal && state !== 'unknown'}))`
  return changed > 0
}

async function count(tx: Queryable, { businessId, channel, sender, at, judged }: CallRecord): Promise<void> {
  const one = (isCounted: boolean) => (isCounted ? 1 : 0)
  await tx`
    insert into channel_outcomes (business_id, channel, sender, at, messages, refused, unreached, reached)
    values (${businessId}, ${channel}, ${sender}, ${at}, ${one(judged === 'refused' || judged === 'other')},
      ${one(judged === 'refused')}, ${one(judged === 'unreached')}, ${one(judged === 'reached')})`
}
