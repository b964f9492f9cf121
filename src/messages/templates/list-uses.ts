import type { Sql } from '../../stores/postgres.ts'

export interface TemplateUse {
  templateId: string
  campaignId: string
  /** Id of the campaign. */
  name: string
}

/** Returns the campaigns that name each template, in any version. They prevent its deletion. */
export async function listUses(sql: Sql, businessId: string, limit: number): Promise<TemplateUse[]> {
  return await sql<TemplateUse[]>`
    select found.template as "templateId", c.id as "campaignId", c.name
    from campaigns c cross join lateral (
      select distinct named #>> '{}' as template
      from campaign_versions v cross join lateral jsonb_path_query(v.definition, '$.steps.**.template') as named
      where v.business_id = c.business_id and v.campaign_id = c.id and jsonb_typeof(named) = 'string'
    ) as found
    where c.business_id = ${businessId} and c.status <> 'archived'
    order by c.created_at, c.id, found.template limit ${limit}`
}
