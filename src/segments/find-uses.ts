import type { Queryable } from '../stores/postgres.ts'

/** The segments and campaigns that name the segment, for a person to read: `the segment "Buyers"`. */
export async function findUses(sql: Queryable, businessId: string, segmentId: string): Promise<string[]> {
  const named = JSON.stringify({ id: segmentId })
  const rows = await sql<{ kind: string; name: string }[]>`
    select 'segment' as kind, name from segments
    where business_id = ${businessId} and id <> ${segmentId}
      and jsonb_path_exists(rule, '$.**.segment ? (@ == $id)', ${named}::text::jsonb)
    union all
    select 'campaign', name from campaigns where business_id = ${businessId} and trigger_segment = ${segmentId}
    order by kind, name`
  return rows.map(({ kind, name }) => `the ${kind} "${name}"`)
}
