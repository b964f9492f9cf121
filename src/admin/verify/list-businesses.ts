import type { Sql } from '../../stores/postgres.ts'

/** The ids of all businesses, also removed ones, because their data stays. */
export async function listBusinesses(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from businesses order by id`
  return rows.map(({ id }) => id)
}

export async function countContacts(sql: Sql, businessId: string | undefined): Promise<number> {
  const [row] = await sql<{ contacts: number }[]>`
    select count(*)::int as contacts from contacts ${businessId ? sql`where business_id = ${businessId}` : sql``}`
  return row?.contacts ?? 0
}
