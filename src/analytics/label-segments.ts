import type { Sql } from '../stores/postgres.ts'

/** Returns the names of segments, by id. Deleted segments are left out. */
export async function labelSegments(
  sql: Sql,
  businessId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from segments where business_id = ${businessId} and id = any(${`{${ids.join(',')}}`}::uuid[])`
  return new Map(rows.map(({ id, name }) => [id, name]))
}
