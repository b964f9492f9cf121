import type { Queryable } from '../../../stores/postgres.ts'
import type { AttemptRecord } from './record-attempts.ts'

type ReportedAttempt = Pick<
  AttemptRecord,
  | 'businessId'
  | 'messageId'
  | 'at'
  | 'detail'
  | 'provider'
  | 'sentFrom'
  | 'providerMessageId'
  | 'templateVersion'
  | 'values'
>

/**
 * A provider may report on a message before its answer to the message is recorded. This applies such reports. Repeating
 * it changes nothing.
 */
export async function recordReported(tx: Queryable, attempt: ReportedAttempt): Promise<void> {
  const { businessId, messageId, at, detail, provider, sentFrom, providerMessageId, templateVersion, values } = attempt
  const sent = JSON.stringify([{ state: 'sent' }])
  await tx`
    update messages set
      states = case when states @> ${sent}::text::jsonb then states
        else states || jsonb_build_array(jsonb_build_object('state', 'sent', 'at', ${at}::bigint)) end,
      sent_at = ${at}, provider = ${provider}, sent_from = ${sentFrom}, template_version = coalesce(${templateVersion}::integer, template_version),
      detail = case when num_nonnulls(contact_id, recipient) > 0 then coalesce(detail, ${detail}::text) end,
      provider_message_id = case when num_nonnulls(contact_id, recipient) > 0 then coalesce(provider_message_id, ${providerMessageId}::text) end,
      "values" = case when num_nonnulls(contact_id, recipient) > 0 then coalesce(${values}::text, "values") end,
      -- It was forgotten before it had any.
      kept = kept or (num_nonnulls(contact_id, recipient) > 0 and ${values}::text is not null)
    where business_id = ${businessId} and id = ${messageId} and reports <> '[]'`
}
