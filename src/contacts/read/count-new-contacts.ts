import { QUARTER_MS } from '../../rules/local-days.ts'
import type { Queryable } from '../../stores/postgres.ts'

/** Counts new contacts since an instant (epoch ms), by the quarter of an hour in which they were created. */
export async function countNewContacts(
  sql: Queryable,
  businessId: string,
  since: number,
): Promise<{ at: number; contacts: number }[]> {
  // The business is an array, as in the index (sql/postgres/0004_contacts.sql).
  return sql<{ at: number; contacts: number }[]>`
    select created_at / ${QUARTER_MS}::bigint * ${QUARTER_MS}::bigint as at, count(*) as contacts from contacts
    where array[business_id] = array[${businessId}::uuid] and created_at >= ${since} and merged_into is null
    group by 1`
}
