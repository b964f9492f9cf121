import type { TransactionSql } from 'postgres'
import { requestResync } from './request-resync.ts'

/**
 * Deletes dead letters and returns the ids of those that existed. For a dead letter of kind `timeline`, ClickHouse
 * lacks the event. So a resync of the contact is requested, and until that is done, no segment is built from the data
 * in ClickHouse (segments/nominate-contacts.ts). Call it in a transaction: the deletion and the request belong
 * together.
 */
export async function dropDeadLetters(tx: TransactionSql, ids: string[]): Promise<string[]> {
  const list = `{${ids.join(',')}}`
  const affected = await tx<{ businessId: string; contactIds: string[] }[]>`
    select business_id as "businessId", to_json(array_agg(distinct contact_id)) as "contactIds" from dead_letters
    where id = any (${list}::uuid[]) and kind = 'timeline' and business_id is not null and contact_id is not null
    group by business_id order by business_id`
  // The resync comes before the deletion because an erasure also locks the contact before its dead letters.
  for (const { businessId, contactIds } of affected) await requestResync(tx, businessId, contactIds)
  const dropped = await tx<{ id: string }[]>`delete from dead_letters where id = any (${list}::uuid[]) returning id`
  return dropped.map(({ id }) => id)
}
