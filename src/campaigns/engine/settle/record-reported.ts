import type { Queryable } from '../../../stores/postgres.ts'
import type { AttemptRecord } from './record-attempts.ts'

/**
 * A provider may report on a message before its answer to the message is recorded. This applies such reports. Repeating
 * it changes nothing.
 */
export async function recordReported(tx: Queryable, attempt: AttemptRecord): Promise<void> {
  const { businessId, messageId, at, detail, provider, sentFrom, providerMessageId, templateVersion, values } = attempt
  const sent = JSON.stringify([{ state: 'sent' }])
  await tx`
    update messages set
      states = case when states @> ${sent}::text::jsonb then states
        else states || jsonb_build_array(jsonb_build_object('state', 'sent', 'at', ${at}::bigint)) end,
      sent_at = ${at}, provider = ${provider}, sent_from = ${sentFrom}, template_version = coalesce(${templateVersion}::integer, template_version),
      detail = case when contact_id is not null then coalesce(detail, ${detail}::text) end,
      provider_message_id = case when contact_id is not null then coalesce(provider_message_id, ${providerMessageId}::text) end,
      "values" = case when contact_id is not null then coalesce(${values}::text, "values") end,
      -- It was forgotten before it had any.
      kept = kept or (contact_id is not null and ${values}::text is not null)
    where business_id = ${businessId} and id = ${messageId} and reports <> '[]'`
}
