import type { MessageChannel } from '../rules/messages/message-channel.ts'
import type { Queryable } from '../stores/postgres.ts'

/** What a call needs to know of its template. */
export interface CallTemplate {
  templateId: string
  channel: MessageChannel
  version: number
  defaultLanguage: string
  /** By language: the names that it reads directly under `data`. */
  dataNames: Record<string, string[]>
}

/** Null when the business has no such template. `templateId` is a UUID. */
export async function loadCallTemplate(
  sql: Queryable,
  businessId: string,
  templateId: string,
): Promise<CallTemplate | null> {
  const [row] = await sql<CallTemplate[]>`
    select t.id as "templateId", t.channel, t.version, v.default_language as "defaultLanguage",
      coalesce(v.data_names, (
        select jsonb_object_agg(language, '[]'::jsonb) from jsonb_object_keys(v.variants) as language
      )) as "dataNames"
    from templates t join template_versions v
      on v.business_id = t.business_id and v.template_id = t.id and v.version = t.version
    where t.business_id = ${businessId} and t.id = ${templateId}`
  return row ?? null
}
