import type { Queryable } from '../stores/postgres.ts'

/** Returns the segments and campaigns that name the segment, for a person to read: `the segment "Buyers"`. */
export async function findUses(sql: Queryable, businessId: string, segmentId: string): Promise<string[]> {
  const named = JSON.stringify({ id: segmentId })
  const rows = await sql<{ kind: string; name: string }[]>`
    select 'segment' as kind, name from segments
    where business_id = ${businessId} and id <> ${segmentId}
      and jsonb_path_exists(rule, '$.**.segment ? (@ == $id)', ${named}::text::jsonb)
    union all
    select 'campaign', c.name from campaigns c
    where c.business_id = ${businessId} and c.status <> 'archived' and (c.trigger_segment = ${segmentId} or exists (
      select from campaign_versions v
      where v.business_id = c.business_id and v.campaign_id = c.id
        and jsonb_path_exists(v.definition, '$.steps.**.segment ? (@ == $id)', ${named}::text::jsonb)
    ))
    order by kind, name`
  return rows.map(({ kind, name }) => `the ${kind} "${name}"`)
}
