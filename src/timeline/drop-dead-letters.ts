import type { TransactionSql } from 'postgres'
import { requestResync } from './request-resync.ts'

/**
 * Returns the ids of the deleted dead letters. ClickHouse lacks the event of one of kind `timeline`: its statistics of the contact are
 * made those of Postgres, and until then no segment is built from what it has (segments/nominate-contacts.ts). Both or neither: to
 * be called in a transaction.
 */
export async function dropDeadLetters(tx: TransactionSql, ids: string[]): Promise<string[]> {
  const list = `{${ids.join(',')}}`
  const lacking = await tx<{ businessId: string; contactIds: string[] }[]>`
    select business_id as "businessId", to_json(array_agg(distinct contact_id)) as "contactIds" from dead_letters
    where id = any (${list}::uuid[]) and kind = 'timeline' and business_id is not null and contact_id is not null
    group by business_id order by business_id`
  // Before the deletion: an erasure, too, locks the contact before its dead letters.
  for (const { businessId, contactIds } of lacking) await requestResync(tx, businessId, contactIds)
  const dropped = await tx<{ id: string }[]>`delete from dead_letters where id = any (${list}::uuid[]) returning id`
  return dropped.map(({ id }) => id)
}
