/** Loads what the message of a call is made from. */
import { loadMessageFacts } from '../../campaigns/engine/send/load-message-facts.ts'
import type { MailFile } from '../../messages/channels/provider.ts'
import { UNKNOWN_CONTACT } from '../../messages/templates/contact-values.ts'
import type { TemplateVersion } from '../../messages/templates/template.ts'
import type { MessageValues } from '../../messages/templates/values.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { ClaimedCall } from './claim-calls.ts'

export interface LoadedCall {
  /** Null: it was deleted, and no message of it is to be kept. */
  template: TemplateVersion | null
  values: Pick<MessageValues, 'contact' | 'event' | 'business' | 'data'>
  attachments: MailFile[]
}

/** Null: the person was erased. */
export async function loadCall(sql: Queryable, call: ClaimedCall): Promise<LoadedCall | null> {
  const { businessId, messageId, contactId, templateId, templateVersion } = call
  const [row] = await sql<
    { values: string | null; name: string; currency: string; template: TemplateVersion | null }[]
  >`
    select m."values", b.name, b.currency, (
      select json_build_object('templateId', v.template_id, 'version', v.version, 'channel', v.channel,
        'defaultLanguage', v.default_language, 'variants', v.variants, 'compiled', v.compiled)
      from template_versions v
      where v.business_id = ${businessId} and v.template_id = ${templateId} and v.version = ${templateVersion}
    ) as template
    from messages m join businesses b on b.id = m.business_id
    where m.business_id = ${businessId} and m.id = ${messageId}`
  if (row === undefined || row.values === null) return null
  const { name, currency, template } = row
  const { data } = JSON.parse(row.values) as Pick<MessageValues, 'data'>
  const [facts = null] =
    contactId === null ? [] : await loadMessageFacts(sql, [{ businessId, contactId, enrolmentId: messageId }])
  if (contactId !== null && facts === null) return null
  const contact = facts?.contact ?? UNKNOWN_CONTACT
  const values = { contact, event: null, business: { name, currency }, ...(data !== undefined && { data }) }
  return { template, values, attachments: await loadAttachments(sql, call) }
}

const loadAttachments = (sql: Queryable, { businessId, messageId }: ClaimedCall) => sql<MailFile[]>`
  select filename, content_type as "contentType", content, content_id as "contentId" from call_attachments
  where business_id = ${businessId} and message_id = ${messageId} and content is not null order by place`
