import { recordAudit } from '../../audit/audit.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { type Transaction, inTransaction } from '../../stores/transaction.ts'
import { type DeadLetterChange, inBusiness, pageDeadLetters } from '../../stream/dead-letter.ts'
import { requestResync } from './request-resync.ts'

/** Deletes dead letters: those of the business of `change`, if it has one. Returns the ids of those that existed. */
export async function dropDeadLetters(sql: Sql, change: DeadLetterChange, ids: string[]): Promise<string[]> {
  return inTransaction(sql, async (tx) => {
    const dropped = await drop(tx, change, ids)
    if (dropped.length > 0) await recordDrop(tx, { ...change, details: { deadLetters: dropped.length } })
    return dropped
  })
}

/**
 * Deletes all dead letters: those of the business of `change`, if it has one. Yields the ids of each page after its
 * commit. The entry of the audit log is written first, because there may be many pages.
 */
export async function* dropAllDeadLetters(sql: Sql, change: DeadLetterChange): AsyncGenerator<string[]> {
  await recordDrop(sql, change)
  for await (const ids of pageDeadLetters(sql, change.businessId))
    yield await inTransaction(sql, (tx) => drop(tx, change, ids))
}

const recordDrop = (sql: Queryable, change: DeadLetterChange): Promise<void> =>
  recordAudit(sql, { ...change, action: 'dead-letter.drop' })

/**
 * For a dead letter of kind `timeline`, ClickHouse lacks the event. So a resync of the contact is requested, and until
 * that is done, no segment is built from the data in ClickHouse (segments/nominate-contacts.ts). The deletion and the
 * request belong together.
 */
async function drop(tx: Transaction, { businessId }: DeadLetterChange, ids: string[]): Promise<string[]> {
  const chosen = tx`id = any (${`{${ids.join(',')}}`}::uuid[]) and ${inBusiness(tx, businessId)}`
  const affected = await tx<{ businessId: string; contactIds: string[] }[]>`
    select business_id as "businessId", to_json(array_agg(distinct contact_id)) as "contactIds" from dead_letters
    where ${chosen} and kind = 'timeline' and business_id is not null and contact_id is not null
    group by business_id order by business_id`
  // The resync comes before the deletion because an erasure also locks the contact before its dead letters.
  for (const one of affected) await requestResync(tx, one.businessId, one.contactIds)
  const dropped = await tx<{ id: string }[]>`delete from dead_letters where ${chosen} returning id`
  return dropped.map(({ id }) => id)
}
