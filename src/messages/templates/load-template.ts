import type { Queryable } from '../../stores/postgres.ts'
import type { DataReads, ListedTemplate, Template, TemplateVersion } from './template.ts'

interface TemplateRow
  extends Omit<Template, 'createdAt' | 'updatedAt' | 'sender'>, TemplateVersion, Pick<DataReads, 'readsData'> {
  createdAt: Date
  updatedAt: Date
  namedSender: string | null
}

export type StoredTemplate = Template & TemplateVersion & Pick<DataReads, 'readsData'>

/** Null when the business has no such template. `templateId` is a UUID. */
export async function loadTemplate(
  sql: Queryable,
  { businessId, templateId }: { businessId: string; templateId: string },
): Promise<StoredTemplate | null> {
  const [row] = await sql<TemplateRow[]>`
    select t.id as "templateId", t.name, t.channel, t.version, v.default_language as "defaultLanguage", v.variants,
      v.compiled, v.reads_data as "readsData", t.sender as "namedSender", t.created_at as "createdAt", t.updated_at as "updatedAt"
    from templates t join template_versions v
      on v.business_id = t.business_id and v.template_id = t.id and v.version = t.version
    where t.business_id = ${businessId} and t.id = ${templateId}`
  return row === undefined ? null : showRow(row)
}

interface ListedRow extends Omit<ListedTemplate, 'createdAt' | 'updatedAt' | 'sender'> {
  namedSender: string | null
  createdAt: Date
  updatedAt: Date
}

/** Newest first. `before`: the page begins below this id; null for the first page. */
export async function listTemplates(
  sql: Queryable,
  { businessId, before, limit }: { businessId: string; before: string | null; limit: number },
): Promise<ListedTemplate[]> {
  const rows = await sql<ListedRow[]>`
    select t.id as "templateId", t.name, t.channel, t.version, v.default_language as "defaultLanguage",
      to_json(array(select jsonb_object_keys(v.variants) order by 1)) as languages, t.sender as "namedSender",
      t.created_at as "createdAt", t.updated_at as "updatedAt"
    from templates t join template_versions v
      on v.business_id = t.business_id and v.template_id = t.id and v.version = t.version
    where t.business_id = ${businessId} and t.id < ${before ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff'}
    order by t.id desc limit ${limit}`
  return rows.map((row) => showRow(row))
}

const showRow = <Row extends { createdAt: Date; updatedAt: Date; namedSender: string | null }>({
  createdAt,
  updatedAt,
  namedSender,
  ...row
}: Row) => ({
  ...row,
  ...(namedSender !== null && { sender: namedSender }),
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
})
